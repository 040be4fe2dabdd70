#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "protocol/page.h"

namespace ringdeal {

// A POSIX shared-memory object, unlinked before anybody else can see it. macOS lets its size be set
// once only, which is the seal.
Result<UniqueFd> CreatePageMemory() {
  static std::atomic<unsigned> counter{0};
  char name[32];
  std::snprintf(name, sizeof(name), "/ringdeal.%d.%u", getpid(), counter.fetch_add(1));
  UniqueFd memory(shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600));
  if (!memory) return SystemError{errno, "shm_open"};
  shm_unlink(name);
  if (ftruncate(memory.get(), kPageBytes) != 0) return SystemError{errno, "ftruncate"};
  return memory;
}

}  // namespace ringdeal
