// The sockets of a process as libproc shows them. macOS only. Main thread.
#pragma once

#include <sys/proc_info.h>
#include <sys/types.h>

#include <functional>

#include "cli/socket_owner.h"
#include "protocol/socket_address.h"

namespace ringdeal {

// Calls `each` for every socket descriptor of the process. False if this user may not look.
bool ForEachSocketOf(pid_t pid, const std::function<void(const socket_info&)>& each);

// The kernel does not say which socket is at the other end of a TCP connection, so a TCP socket is
// known by its addresses, its own first. A UNIX socket is known by the kernel's handle.
SocketId IdOf(const socket_info& socket);
SocketId IdOf(const SocketAddress& own, const SocketAddress& peer);

}  // namespace ringdeal
