#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "protocol/peer_credentials.h"
#include "protocol/system_calls.h"

namespace ringdeal {

Result<PeerCredentials> PeerCredentialsOf(int socket) {
  PeerCredentials credentials;
  if (getpeereid(socket, &credentials.uid, &credentials.gid) != 0) {
    return SystemError{errno, "getpeereid"};
  }
  socklen_t length = sizeof(credentials.pid);
  if (sys::GetSocketOption(socket, SOL_LOCAL, LOCAL_PEERPID, &credentials.pid, &length) != 0) {
    credentials.pid = 0;
  }
  return credentials;
}

Result<UniqueFd> PeerProcessDescriptor(int) { return SystemError{ENOTSUP, "pidfd"}; }

}  // namespace ringdeal
