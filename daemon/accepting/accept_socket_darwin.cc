#include <fcntl.h>

#include "daemon/accepting/accept_socket.h"

namespace ringdeal {

// macOS has no accept4, and an accepted socket inherits O_NONBLOCK from the listener.
UniqueFd AcceptSocket(int listener, sockaddr* peer, socklen_t* length, Blocking blocking) {
  UniqueFd socket(accept(listener, peer, length));
  if (!socket) return socket;
  fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  fcntl(socket.get(), F_SETFL, blocking == Blocking::kNo ? O_NONBLOCK : 0);
  return socket;
}

}  // namespace ringdeal
