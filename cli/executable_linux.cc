#include "cli/executable_linux.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "protocol/unique_fd.h"

namespace ringdeal {
namespace {

constexpr size_t kMostSegments = 256;
constexpr size_t kMostNoteBytes = 64 * 1024;
constexpr char kGoNote[] = "Go";

bool ReadAt(int file, void* buffer, size_t size, off_t offset) {
  return pread(file, buffer, size, offset) == static_cast<ssize_t>(size);
}

// The Go linker leaves a note of its own with the build's id.
bool HasGoNote(int file, const ElfW(Phdr) & segment) {
  std::vector<char> notes(std::min<size_t>(segment.p_filesz, kMostNoteBytes));
  if (!ReadAt(file, notes.data(), notes.size(), static_cast<off_t>(segment.p_offset))) return false;
  constexpr auto kAligned = [](size_t size) { return (size + 3) / 4 * 4; };
  for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= notes.size();) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data() + at, sizeof(note));
    const size_t name = at + sizeof(note);
    if (note.n_namesz > notes.size() - name) return false;
    if (std::strncmp(notes.data() + name, kGoNote, note.n_namesz) == 0 && note.n_namesz > 1) {
      return true;
    }
    at = name + kAligned(note.n_namesz) + kAligned(note.n_descsz);
  }
  return false;
}

}  // namespace

std::optional<Linkage> LinkageOf(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ElfW(Ehdr) head;
  if (!file || !ReadAt(file.get(), &head, sizeof(head), 0) ||
      std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phnum > kMostSegments ||
      head.e_phentsize != sizeof(ElfW(Phdr))) {
    return std::nullopt;
  }
  std::vector<ElfW(Phdr)> segments(head.e_phnum);
  if (!ReadAt(file.get(), segments.data(), segments.size() * sizeof(segments[0]),
              static_cast<off_t>(head.e_phoff))) {
    return std::nullopt;
  }
  bool has_loader = false;
  for (const auto& segment : segments) {
    if (segment.p_type == PT_NOTE && HasGoNote(file.get(), segment)) return Linkage::kGo;
    has_loader = has_loader || segment.p_type == PT_INTERP;
  }
  return has_loader ? Linkage::kDynamic : Linkage::kStatic;
}

}  // namespace ringdeal
