#include <sys/socket.h>
#include <sys/ucred.h>
#include <sys/un.h>

#include "daemon/workers/peer_groups.h"

namespace ringdeal {

std::vector<gid_t> PeerGroupsOf(int socket) {
  xucred credentials = {};
  socklen_t length = sizeof(credentials);
  if (getsockopt(socket, SOL_LOCAL, LOCAL_PEERCRED, &credentials, &length) != 0) return {};
  return {credentials.cr_groups, credentials.cr_groups + credentials.cr_ngroups};
}

}  // namespace ringdeal
