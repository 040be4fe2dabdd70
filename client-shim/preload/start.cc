// The shim's constructor: what must be known before the program's main.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "client-shim/client/kernel_call_linux.h"
#include "client-shim/preload/connections.h"
#include "client-shim/preload/listener.h"
#include "client-shim/preload/process.h"
#include "client-shim/preload/real_calls.h"
#include "client-shim/preload/settings.h"
#include "protocol/socket_identity.h"

namespace ringdeal::shim {
namespace {

struct KernelDirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[];
};

// Listening sockets that came over exec, or from a service manager: the program may never call
// listen on them.
void TrackInheritedListeners() {
  const long directory = kernel::Call(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/fd"),
                                      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  alignas(KernelDirectoryEntry) char buffer[4096];
  long bytes = 0;
  while ((bytes = kernel::Call(SYS_getdents64, directory, reinterpret_cast<long>(buffer),
                               sizeof(buffer))) > 0) {
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const KernelDirectoryEntry*>(buffer + at);
      at += entry->length;
      if (entry->name[0] < '0' || entry->name[0] > '9') continue;
      const int number = std::atoi(entry->name);
      if (number != directory && IsListening(number)) listeners::Track(number);
    }
  }
  kernel::Call(SYS_close, directory);
}

void AfterFork() {
  listeners::AfterFork();
  connections::AfterFork();
}

__attribute__((constructor(101))) void Start() {
  real::Resolve();
  ReadEnvironment();
  if (!settings.enabled) return;
  WatchForForks(&AfterFork);
  TrackInheritedListeners();
}

}  // namespace
}  // namespace ringdeal::shim
