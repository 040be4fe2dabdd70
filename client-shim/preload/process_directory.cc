#include "client-shim/preload/process_directory.h"

#include <fcntl.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "client-shim/client/kernel_call_linux.h"

namespace ringdeal::shim {
namespace {

struct KernelDirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[];
};

constexpr char kDescriptors[] = "/proc/self/fdinfo";
constexpr char kTarget[] = "tfd:";  // begins the line of each descriptor that an epoll set watches

long Open(long directory, const char* name, int flags) {
  return kernel::Call(SYS_openat, directory, kernel::AsLong(name), flags | O_RDONLY | O_CLOEXEC);
}

// Of each line the beginning, which has the number.
class Lines {
 public:
  explicit Lines(const Listener* listener) : listener_(listener) {}

  bool Feed(const char* bytes, long count) {
    for (long i = 0; i < count; ++i) {
      if (bytes[i] == '\n') {
        line_[used_] = '\0';
        used_ = 0;
        if (Names()) return true;
      } else if (used_ + 1 < sizeof(line_)) {
        line_[used_++] = bytes[i];
      }
    }
    return false;
  }

 private:
  bool Names() const {
    constexpr size_t kHead = sizeof(kTarget) - 1;
    if (std::strncmp(line_, kTarget, kHead) != 0) return false;
    return listeners::Of(table::Get(std::atoi(line_ + kHead))) == listener_;
  }

  const Listener* listener_;
  char line_[32] = "";
  size_t used_ = 0;
};

struct Search {
  const Listener* listener;
  bool found = false;
};

bool LookInto(void* context, const char* name, int directory) {
  auto* search = static_cast<Search*>(context);
  const long file = Open(directory, name, 0);
  if (file < 0) return true;
  Lines lines(search->listener);
  char buffer[1024];
  long bytes = 0;
  while (!search->found &&
         (bytes = kernel::Call(SYS_read, file, kernel::AsLong(buffer), sizeof(buffer))) > 0) {
    search->found = lines.Feed(buffer, bytes);
  }
  kernel::Call(SYS_close, file);
  return !search->found;
}

}  // namespace

void VisitDescriptors(Visit visit, void* context) {
  const long directory = Open(AT_FDCWD, kDescriptors, O_DIRECTORY);
  if (directory < 0) return;
  alignas(KernelDirectoryEntry) char buffer[2048];
  bool goes_on = true;
  long bytes = 0;
  while (goes_on && (bytes = kernel::Call(SYS_getdents64, directory, kernel::AsLong(buffer),
                                          sizeof(buffer))) > 0) {
    for (long at = 0; goes_on && at < bytes;) {
      const auto* entry = reinterpret_cast<const KernelDirectoryEntry*>(buffer + at);
      at += entry->length;
      if (entry->name[0] < '0' || entry->name[0] > '9') continue;
      if (std::atoi(entry->name) == directory) continue;
      goes_on = visit(context, entry->name, static_cast<int>(directory));
    }
  }
  kernel::Call(SYS_close, directory);
}

bool AnyEpollSetWatches(const Listener* listener) {
  Search search = {listener};
  VisitDescriptors(&LookInto, &search);
  return search.found;
}

}  // namespace ringdeal::shim
