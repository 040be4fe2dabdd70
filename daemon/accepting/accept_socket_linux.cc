#include "daemon/accepting/accept_socket.h"

namespace ringdeal {

UniqueFd AcceptSocket(int listener, sockaddr* peer, socklen_t* length, Blocking blocking) {
  const int flags = blocking == Blocking::kNo ? SOCK_CLOEXEC | SOCK_NONBLOCK : SOCK_CLOEXEC;
  return UniqueFd(accept4(listener, peer, length, flags));
}

}  // namespace ringdeal
