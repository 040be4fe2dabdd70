// accept4 for the platforms that have it and those that have not. Any thread, signal handlers too.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>

namespace ringdeal::client {

#if defined(SOCK_NONBLOCK)
inline constexpr int kAcceptNonBlocking = SOCK_NONBLOCK;
inline constexpr int kAcceptCloseOnExec = SOCK_CLOEXEC;
#else
inline constexpr int kAcceptNonBlocking = O_NONBLOCK;
inline constexpr int kAcceptCloseOnExec = O_CLOEXEC;
#endif

// Accepts from a listener that does not block. Returns the descriptor, or -1 and errno.
int AcceptFrom(int listener, sockaddr* address, socklen_t* length, int flags);

}  // namespace ringdeal::client
