#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "daemon/workers/document_memory.h"

namespace ringdeal {

Result<UniqueFd> MakeDocumentMemory(std::string_view text) {
  UniqueFd memory(memfd_create("ringdeal-document", MFD_CLOEXEC));
  if (!memory) return SystemError{errno, "memfd_create"};
  const ssize_t written = pwrite(memory.get(), text.data(), text.size(), 0);
  if (written != static_cast<ssize_t>(text.size())) return SystemError{errno, "pwrite"};
  return memory;
}

}  // namespace ringdeal
