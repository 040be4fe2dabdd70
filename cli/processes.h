// The processes of this machine and the sockets they hold, as far as this user may see. Main
// thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cli/socket_owner.h"
#include "protocol/result.h"

namespace ringdeal {

struct Holders {
  std::unordered_map<SocketId, std::vector<pid_t>> of;
  bool complete = true;  // false: some processes did not let this user look
};

// Who holds each of the wanted sockets. Reads the descriptors of every process.
Holders FindHolders(const std::unordered_set<SocketId>& wanted);

std::vector<pid_t> AllProcesses();

// 0 if there is none, or no such process.
pid_t ParentOf(pid_t pid);

// The program's short name, empty if there is no such process.
std::string NameOf(pid_t pid);

// Has the calling process, a child of `parent`, be told to end (SIGTERM) when its parent does,
// however that ends. Holds over exec, not over another fork or a change of user. ESRCH if the
// parent has ended already. Where the system has no such thing, nothing is done.
Result<void> EndWithParent(pid_t parent);

}  // namespace ringdeal
