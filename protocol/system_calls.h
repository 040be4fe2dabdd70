// The system calls that the shim makes past the C library: those that it exports under the same
// name, and those that make or close a descriptor, since others watch the C library's too (a
// sanitizer that saw only the making would take the number's next user for the same file). Linked
// from system_calls_libc.cc, or from the shim's own file. Any thread, signal handlers too.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

namespace ringdeal::sys {

int Close(int descriptor);
int Socket(int domain, int type);
int SocketPair(int domain, int type, int ends[2]);
int Connect(int socket, const sockaddr* address, socklen_t length);
int Poll(pollfd* descriptors, nfds_t count, int timeout_ms);
int GetSocketOption(int socket, int level, int name, void* value, socklen_t* length);
int GetSocketName(int socket, sockaddr* address, socklen_t* length);
// fcntl with an integer argument.
int Control(int descriptor, int command, int argument);
ssize_t SendMessage(int socket, const msghdr* message, int flags);
ssize_t ReceiveMessage(int socket, msghdr* message, int flags);

}  // namespace ringdeal::sys
