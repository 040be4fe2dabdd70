#include "daemon/dealing/placement.h"

#include <functional>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace ringdeal {
namespace {

// CPUs 0 to 7 and 8 to 15 are packages, of two cache groups of two cores of two threads each.
class PlacementTest : public testing::Test {
 protected:
  std::vector<int> CpusOfPlace() const { return topology_.objects()[placement_.place()].cpus; }
  std::string Source() const { return NameOf(placement_.source()); }
  // How often the placement changed.
  int Accept(int times, const std::function<int()>& cpu) {
    int changes = 0;
    for (int i = 0; i < times; ++i) {
      now_ns_ += Placement::kVoteIntervalNs;
      changes += placement_.Accepted(cpu(), now_ns_) ? 1 : 0;
    }
    return changes;
  }
  int Accept(int times, int cpu) {
    return Accept(times, [cpu] { return cpu; });
  }

  const Topology topology_ = Topology::Read("synthetic:pack:2 l3:2 core:2 pu:2").value();
  Placement placement_{&topology_};
  uint64_t now_ns_ = 0;
  std::mt19937 random_{1};
};

TEST_F(PlacementTest, IsAnywhereWhileNothingIsKnown) {
  EXPECT_EQ(placement_.place(), kAnywhere);
  EXPECT_EQ(Source(), "none");
}

TEST_F(PlacementTest, LetsWhatIsSetWinOverAllElse) {
  EXPECT_TRUE(placement_.SetAffinity({3}));
  EXPECT_TRUE(placement_.Set({0, 1}));
  EXPECT_EQ(Accept(200, 9), 0);
  EXPECT_EQ(CpusOfPlace(), (std::vector<int>{0, 1}));
  EXPECT_EQ(Source(), "set");
  EXPECT_FALSE(placement_.SetAffinity({4}));
  EXPECT_TRUE(placement_.Set({}));
  EXPECT_EQ(CpusOfPlace(), std::vector<int>{4});
  EXPECT_EQ(Source(), "affinity");
}

TEST_F(PlacementTest, TakesAnAffinityOnlyIfItIsNarrowerThanTheMachine) {
  std::vector<int> all = topology_.objects()[kAnywhere].cpus;
  all.push_back(99);  // may be allowed and not exist
  EXPECT_FALSE(placement_.SetAffinity(all));
  EXPECT_EQ(Source(), "none");
  EXPECT_FALSE(placement_.SetAffinity({99}));
  EXPECT_FALSE(placement_.SetAffinity({}));
  EXPECT_TRUE(placement_.SetAffinity({4, 6, 99}));
  EXPECT_EQ(CpusOfPlace(), (std::vector<int>{4, 5, 6, 7}));
  EXPECT_TRUE(placement_.SetAffinity({0, 15}));
  EXPECT_EQ(placement_.place(), kAnywhere);
  EXPECT_EQ(Source(), "affinity");
}

TEST_F(PlacementTest, LearnsWhereAProcessStaysPut) {
  EXPECT_EQ(Accept(static_cast<int>(Placement::kFewestVotes), 5), 1);
  EXPECT_EQ(CpusOfPlace(), std::vector<int>{5});
  EXPECT_EQ(Source(), "learned");
  EXPECT_EQ(Accept(1000, 5), 0);
}

TEST_F(PlacementTest, DoesNotLearnFromAFewAccepts) {
  EXPECT_EQ(Accept(static_cast<int>(Placement::kFewestVotes) - 1, 5), 0);
  EXPECT_EQ(Accept(1000, -1), 0);
  EXPECT_EQ(Accept(1000, 99), 0);
  EXPECT_EQ(Source(), "none");
}

// Of a hundred accepts in a row the kernel had no time to move the process.
TEST_F(PlacementTest, DoesNotLearnFromABurst) {
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(placement_.Accepted(5, i * 1000));
  EXPECT_EQ(Source(), "none");
}

TEST_F(PlacementTest, SettlesAtTheObjectInWhichAProcessMoves) {
  Accept(200, [this] { return 4 + static_cast<int>(random_() % 4); });
  EXPECT_EQ(CpusOfPlace(), (std::vector<int>{4, 5, 6, 7}));
  EXPECT_EQ(Source(), "learned");
}

TEST_F(PlacementTest, DoesNotChurnWhenAProcessWanders) {
  EXPECT_LE(Accept(10000, [this] { return static_cast<int>(random_() % 16); }), 1);
  EXPECT_EQ(placement_.place(), kAnywhere);
}

TEST_F(PlacementTest, DoesNotChurnWhenAProcessIsMovedNowAndThen) {
  Accept(200, 5);
  const auto mostly_there = [this] {
    return random_() % 4 != 0 ? 5 : static_cast<int>(random_() % 16);
  };
  EXPECT_EQ(Accept(10000, mostly_there), 0);
  EXPECT_EQ(CpusOfPlace(), std::vector<int>{5});
}

TEST_F(PlacementTest, DoesNotChurnBetweenTwoCpus) {
  int turn = 0;
  EXPECT_LE(Accept(10000, [&turn] { return ++turn / 20 % 2 == 0 ? 0 : 15; }), 3);
}

TEST_F(PlacementTest, FollowsAProcessThatMovedForGood) {
  Accept(200, 5);
  EXPECT_LE(Accept(static_cast<int>(Placement::kVotes), 12), 2);
  EXPECT_EQ(CpusOfPlace(), std::vector<int>{12});
}

TEST_F(PlacementTest, DoesNotLeaveAWorkerOnACpuThatIsGone) {
  Accept(100, 13);
  const Topology smaller = Topology::Read("synthetic:pack:1 l3:2 core:2 pu:2").value();
  EXPECT_TRUE(placement_.Use(&smaller));
  EXPECT_EQ(Source(), "none");
  EXPECT_EQ(Accept(100, 3), 0 + 1);
  EXPECT_TRUE(placement_.Set({13}));
  EXPECT_EQ(placement_.place(), kAnywhere);
  EXPECT_TRUE(placement_.Use(&topology_));
  EXPECT_EQ(CpusOfPlace(), std::vector<int>{13});
}

}  // namespace
}  // namespace ringdeal
