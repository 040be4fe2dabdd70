#include <dirent.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "cli/processes.h"

namespace ringdeal {
namespace {

// Returns 0 or the errno with which the directory could not be opened.
int ForEachEntry(const std::string& path, const std::function<void(const char*)>& each) {
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return errno;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.') each(entry->d_name);
  }
  closedir(directory);
  return 0;
}

// The socket's inode, 0 if the descriptor is no socket.
SocketId SocketAt(const std::string& descriptor) {
  static constexpr char kPrefix[] = "socket:[";
  char target[64];
  const ssize_t length = readlink(descriptor.c_str(), target, sizeof(target) - 1);
  if (length <= 0) return 0;
  target[length] = '\0';
  if (std::strncmp(target, kPrefix, sizeof(kPrefix) - 1) != 0) return 0;
  return std::strtoull(target + sizeof(kPrefix) - 1, nullptr, 10);
}

std::string FirstLineOf(const std::string& path) {
  char line[512] = "";
  FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return {};
  const bool got = std::fgets(line, sizeof(line), file) != nullptr;
  std::fclose(file);
  return got ? line : "";
}

std::string ProcessPath(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

}  // namespace

std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> pids;
  ForEachEntry("/proc", [&](const char* name) {
    const int pid = std::atoi(name);
    if (pid > 0) pids.push_back(pid);
  });
  return pids;
}

Holders FindHolders(const std::unordered_set<SocketId>& wanted) {
  Holders holders;
  for (const pid_t pid : AllProcesses()) {
    const std::string directory = ProcessPath(pid, "fd/");
    const int error = ForEachEntry(directory, [&](const char* name) {
      const SocketId socket = SocketAt(directory + name);
      if (socket == 0 || !wanted.contains(socket)) return;
      std::vector<pid_t>& found = holders.of[socket];
      // A process may hold it under several numbers.
      if (found.empty() || found.back() != pid) found.push_back(pid);
    });
    if (error == EACCES || error == EPERM) holders.complete = false;
  }
  return holders;
}

pid_t ParentOf(pid_t pid) {
  const std::string line = FirstLineOf(ProcessPath(pid, "stat"));
  // The name in parentheses may itself hold some: what follows the last one is plain.
  const size_t name_end = line.rfind(')');
  int parent = 0;
  if (name_end == std::string::npos) return 0;
  return std::sscanf(line.c_str() + name_end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

std::string NameOf(pid_t pid) {
  std::string name = FirstLineOf(ProcessPath(pid, "comm"));
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

Result<void> EndWithParent(pid_t parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return SystemError{errno, "PR_SET_PDEATHSIG"};
  if (getppid() != parent) return SystemError{ESRCH, "getppid"};
  return {};
}

}  // namespace ringdeal
