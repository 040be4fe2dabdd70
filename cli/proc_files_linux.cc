#include "cli/proc_files_linux.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string_view>

#include "protocol/unique_fd.h"

namespace ringdeal {

std::string ProcPath(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

std::optional<std::string> ReadProc(pid_t pid, const char* file) {
  const UniqueFd opened(open(ProcPath(pid, file).c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return std::nullopt;
  std::string text;
  char buffer[16 * 1024];
  for (;;) {
    const ssize_t bytes = read(opened.get(), buffer, sizeof(buffer));
    if (bytes < 0) return std::nullopt;
    if (bytes == 0) return text;
    text.append(buffer, static_cast<size_t>(bytes));
  }
}

std::string ReadLink(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = readlink(path.c_str(), target, sizeof(target));
  return length <= 0 ? std::string() : std::string(target, static_cast<size_t>(length));
}

SocketId SocketOfLink(const std::string& target) {
  static constexpr std::string_view kPrefix = "socket:[";
  if (!target.starts_with(kPrefix)) return 0;
  return std::strtoull(target.c_str() + kPrefix.size(), nullptr, 10);
}

int ForEachEntry(const std::string& path, const std::function<void(const char*)>& each) {
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return errno;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.') each(entry->d_name);
  }
  closedir(directory);
  return 0;
}

}  // namespace ringdeal
