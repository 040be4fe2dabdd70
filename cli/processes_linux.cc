#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "cli/proc_files_linux.h"
#include "cli/processes.h"

namespace ringdeal {
namespace {

std::string FirstLineOf(const std::optional<std::string>& text) {
  return text ? text->substr(0, text->find('\n')) : std::string();
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
    const std::string directory = ProcPath(pid, "fd/");
    const int error = ForEachEntry(directory, [&](const char* name) {
      const SocketId socket = SocketOfLink(ReadLink(directory + name));
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
  const std::string line = ReadProc(pid, "stat").value_or("");
  // The name in parentheses may itself hold some: what follows the last one is plain.
  const size_t name_end = line.rfind(')');
  int parent = 0;
  if (name_end == std::string::npos) return 0;
  return std::sscanf(line.c_str() + name_end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

std::string NameOf(pid_t pid) { return FirstLineOf(ReadProc(pid, "comm")); }

Result<void> EndWithParent(pid_t parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return SystemError{errno, "PR_SET_PDEATHSIG"};
  if (getppid() != parent) return SystemError{ESRCH, "getppid"};
  return {};
}

}  // namespace ringdeal
