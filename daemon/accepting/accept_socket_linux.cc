#include "daemon/accepting/accept_socket.h"

namespace ringdeal {

UniqueFd AcceptSocket(int listener, sockaddr* peer, socklen_t* length) {
  return UniqueFd(accept4(listener, peer, length, SOCK_CLOEXEC));
}

}  // namespace ringdeal
