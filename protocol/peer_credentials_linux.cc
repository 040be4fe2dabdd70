#include <sys/socket.h>

#include <cerrno>

#include "protocol/peer_credentials.h"
#include "protocol/system_calls.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // Linux 6.5
#endif

namespace ringdeal {

Result<PeerCredentials> PeerCredentialsOf(int socket) {
  ucred credentials = {};
  socklen_t length = sizeof(credentials);
  if (sys::GetSocketOption(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return SystemError{errno, "SO_PEERCRED"};
  }
  return PeerCredentials{credentials.pid, credentials.uid, credentials.gid};
}

Result<UniqueFd> PeerProcessDescriptor(int socket) {
  int descriptor = -1;
  socklen_t length = sizeof(descriptor);
  if (sys::GetSocketOption(socket, SOL_SOCKET, SO_PEERPIDFD, &descriptor, &length) != 0) {
    return SystemError{errno == ENOPROTOOPT ? ENOTSUP : errno, "SO_PEERPIDFD"};
  }
  return UniqueFd(descriptor);
}

}  // namespace ringdeal
