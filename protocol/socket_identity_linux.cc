#include <sys/socket.h>

#include <cerrno>

#include "protocol/socket_identity.h"
#include "protocol/system_calls.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71  // Linux 5.14; the C library's headers may be older
#endif

namespace ringdeal {

Result<SocketIdentity> IdentityOf(int socket) {
  SocketIdentity identity;
  socklen_t length = sizeof(identity.cookie);
  if (sys::GetSocketOption(socket, SOL_SOCKET, SO_COOKIE, &identity.cookie, &length) != 0) {
    return SystemError{errno, "SO_COOKIE"};
  }
  length = sizeof(identity.network);
  if (sys::GetSocketOption(socket, SOL_SOCKET, SO_NETNS_COOKIE, &identity.network, &length) != 0) {
    identity.network = 0;
  }
  return identity;
}

}  // namespace ringdeal
