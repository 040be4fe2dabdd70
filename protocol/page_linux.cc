#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "protocol/page.h"

namespace ringdeal {

Result<UniqueFd> CreatePageMemory() {
  UniqueFd memory(memfd_create("ringdeal-page", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return SystemError{errno, "memfd_create"};
  if (ftruncate(memory.get(), kPageBytes) != 0) return SystemError{errno, "ftruncate"};
  // Sealed: a worker that shrank it would kill ringdeald with SIGBUS.
  if (sys::Control(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return SystemError{errno, "F_ADD_SEALS"};
  }
  return memory;
}

}  // namespace ringdeal
