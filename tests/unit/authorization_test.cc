#include "daemon/workers/authorization.h"

#include <gtest/gtest.h>

namespace ringdeal {
namespace {

constexpr Self kSelf{.uid = 500, .adopting_group = 600};

Peer User(uid_t uid, std::vector<gid_t> groups = {}) { return {1, uid, uid, std::move(groups)}; }

TEST(Authorization, GivesAListenerToNoStranger) {
  const Principals nobody;
  EXPECT_FALSE(MayTake(User(1000), kSelf, nobody));
  EXPECT_TRUE(MayTake(User(0), kSelf, nobody));
  EXPECT_TRUE(MayTake(User(500), kSelf, nobody));
}

TEST(Authorization, LooksAtUsersAndAtEveryGroup) {
  const Principals allow{.uids = {1000}, .gids = {33}};
  EXPECT_TRUE(MayTake(User(1000), kSelf, allow));
  EXPECT_TRUE(MayTake(User(33), kSelf, allow)) << "by its primary group";
  EXPECT_TRUE(MayTake(User(7, {5, 33}), kSelf, allow)) << "by a supplementary group";
  EXPECT_FALSE(MayTake(User(7, {5, 34}), kSelf, allow));
}

TEST(Authorization, AdoptsForNoStranger) {
  AdoptConfig adopt;
  EXPECT_TRUE(MayAdopt(User(0), kSelf, adopt));
  EXPECT_TRUE(MayAdopt(User(500), kSelf, adopt));
  EXPECT_TRUE(MayAdopt(User(7, {600}), kSelf, adopt));
  EXPECT_FALSE(MayAdopt(User(7), kSelf, adopt));
}

TEST(Authorization, TakesNoMissingGroupForAGroup) {
  AdoptConfig adopt;
  Self self = kSelf;
  self.adopting_group = static_cast<gid_t>(-1);
  Peer peer = User(7);
  peer.gid = static_cast<gid_t>(-1);
  EXPECT_FALSE(MayAdopt(peer, self, adopt));
}

TEST(Authorization, AdoptsForNobodyWhenSwitchedOff) {
  AdoptConfig adopt;
  adopt.enabled = false;
  EXPECT_FALSE(MayAdopt(User(0), kSelf, adopt));
}

TEST(Authorization, AdoptsForThoseListedAlone) {
  AdoptConfig adopt;
  adopt.listed = true;
  adopt.principals.uids = {1000};
  EXPECT_TRUE(MayAdopt(User(1000), kSelf, adopt));
  EXPECT_FALSE(MayAdopt(User(0), kSelf, adopt));
}

TEST(Authorization, LetsNoStrangerDrain) {
  Principals admin;
  EXPECT_FALSE(MayAdminister(User(1000), kSelf, admin));
  admin.uids = {1000};
  EXPECT_TRUE(MayAdminister(User(1000), kSelf, admin));
}

}  // namespace
}  // namespace ringdeal
