#include <sys/socket.h>

#include <cerrno>

#include "daemon/workers/peer_groups.h"

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59  // Linux 4.13
#endif

namespace ringdeal {

std::vector<gid_t> PeerGroupsOf(int socket) {
  std::vector<gid_t> groups(64);
  auto length = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  int result = getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length);
  if (result != 0 && errno == ERANGE) {  // the kernel said how much it needs
    groups.resize(length / sizeof(gid_t));
    result = getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length);
  }
  groups.resize(result == 0 ? length / sizeof(gid_t) : 0);
  return groups;
}

}  // namespace ringdeal
