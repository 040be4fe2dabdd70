#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "daemon/workers/document_memory.h"

namespace ringdeal {

// A file that has no name any more: macOS shared memory cannot be read with read().
Result<UniqueFd> MakeDocumentMemory(std::string_view text) {
  char path[] = "/tmp/ringdeal-document-XXXXXX";
  UniqueFd file(mkostemp(path, O_CLOEXEC));
  if (!file) return SystemError{errno, "mkostemp"};
  unlink(path);
  const ssize_t written = pwrite(file.get(), text.data(), text.size(), 0);
  if (written != static_cast<ssize_t>(text.size())) return SystemError{errno, "pwrite"};
  return file;
}

}  // namespace ringdeal
