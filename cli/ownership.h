// The rules that say which of the processes that hold a socket is the worker. Main thread.
#pragma once

#include <sys/types.h>

#include <vector>

namespace ringdeal {

// Leaves out ringdeald, which deals and does not serve, and every process that is an ancestor of
// another of `holders`: a master that forked, and keeps what its children use. One that is left is
// the worker; if several are left, they share the socket; none if no worker has it.
std::vector<pid_t> WorkersAmong(const std::vector<pid_t>& holders);

}  // namespace ringdeal
