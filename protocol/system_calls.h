// The system calls that the shim exports under the same name and the code below it must not call
// through the shim. Linked from system_calls_libc.cc, or from the shim's own file. Any thread,
// signal handlers too.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

namespace ringdeal::sys {

int Close(int descriptor);
int Connect(int socket, const sockaddr* address, socklen_t length);
int Poll(pollfd* descriptors, nfds_t count, int timeout_ms);
int GetSocketOption(int socket, int level, int name, void* value, socklen_t* length);
int GetSocketName(int socket, sockaddr* address, socklen_t* length);
// fcntl with an integer argument.
int Control(int descriptor, int command, int argument);
ssize_t SendMessage(int socket, const msghdr* message, int flags);
ssize_t ReceiveMessage(int socket, msghdr* message, int flags);

}  // namespace ringdeal::sys
