#include "daemon/workers/authorization.h"

#include <algorithm>

namespace ringdeal {
namespace {

bool Contains(const auto& values, auto value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool IsInGroup(const Peer& peer, gid_t gid) {
  return peer.gid == gid || Contains(peer.groups, gid);
}

bool IsTrusted(const Peer& peer, const Self& self) { return peer.uid == 0 || peer.uid == self.uid; }

}  // namespace

bool IsAmong(const Peer& peer, const Principals& principals) {
  if (Contains(principals.uids, peer.uid)) return true;
  return std::any_of(principals.gids.begin(), principals.gids.end(),
                     [&peer](gid_t gid) { return IsInGroup(peer, gid); });
}

bool MayTake(const Peer& peer, const Self& self, const Principals& allow) {
  return IsTrusted(peer, self) || IsAmong(peer, allow);
}

bool MayAdopt(const Peer& opener, const Self& self, const AdoptConfig& adopt) {
  if (!adopt.enabled) return false;
  if (adopt.listed) return IsAmong(opener, adopt.principals);
  const bool has_group = self.adopting_group != static_cast<gid_t>(-1);
  return IsTrusted(opener, self) || (has_group && IsInGroup(opener, self.adopting_group));
}

bool MayAdminister(const Peer& peer, const Self& self, const Principals& admin) {
  return IsTrusted(peer, self) || IsAmong(peer, admin);
}

}  // namespace ringdeal
