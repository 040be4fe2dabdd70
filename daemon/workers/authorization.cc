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

std::vector<uid_t> TrustedUsers(const Self& self) {
  return self.uid == 0 ? std::vector<uid_t>{0} : std::vector<uid_t>{0, self.uid};
}

}  // namespace

bool IsAmong(const Peer& peer, const Principals& principals) {
  if (Contains(principals.uids, peer.uid)) return true;
  return std::any_of(principals.gids.begin(), principals.gids.end(),
                     [&peer](gid_t gid) { return IsInGroup(peer, gid); });
}

Principals WhoMayTake(const Self& self, const Principals& allow) {
  Principals may = allow;
  const std::vector<uid_t> trusted = TrustedUsers(self);
  may.uids.insert(may.uids.end(), trusted.begin(), trusted.end());
  return may;
}

Principals WhoMayHaveAdopted(const Self& self, const AdoptConfig& adopt) {
  if (!adopt.enabled) return {};
  if (adopt.listed) return adopt.principals;
  Principals may{.uids = TrustedUsers(self), .gids = {}};
  if (self.adopting_group != static_cast<gid_t>(-1)) may.gids.push_back(self.adopting_group);
  return may;
}

bool MayTake(const Peer& peer, const Self& self, const Principals& allow) {
  return IsAmong(peer, WhoMayTake(self, allow));
}

bool MayAdopt(const Peer& opener, const Self& self, const AdoptConfig& adopt) {
  return IsAmong(opener, WhoMayHaveAdopted(self, adopt));
}

bool MayAdminister(const Peer& peer, const Self& self, const Principals& admin) {
  return Contains(TrustedUsers(self), peer.uid) || IsAmong(peer, admin);
}

}  // namespace ringdeal
