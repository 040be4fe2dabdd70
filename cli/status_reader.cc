#include "cli/status_reader.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstddef>
#include <optional>

namespace ringdeal {
namespace {

// The document comes as a memory file, since it may be longer than a line of the control socket.
// Mapped, because a shared-memory object of macOS cannot be read.
std::optional<std::string> ReadFile(int file) {
  struct stat facts = {};
  if (fstat(file, &facts) != 0 || facts.st_size <= 0) return std::nullopt;
  const auto size = static_cast<size_t>(facts.st_size);
  void* memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return std::nullopt;
  std::string document(static_cast<const char*>(memory), size);
  munmap(memory, size);
  return document;
}

}  // namespace

Result<std::string, ControlError> ReadStatus(const std::string& control) {
  const auto answer = AskDaemon(control, R"({"op":"status"})");
  if (!answer) return answer.error();
  std::optional<std::string> document = ReadFile(answer->descriptor.get());
  if (!document) return ControlError{.text = "the status document cannot be read"};
  return *std::move(document);
}

}  // namespace ringdeal
