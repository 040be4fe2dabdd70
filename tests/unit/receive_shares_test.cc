#include "daemon/dealing/receive_shares.h"

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ringdeal {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kHalfLife = 10 * kSecond;

Topology Machine() { return Topology::Read("synthetic:pack:1 core:4 pu:1").value(); }

class ReceiveSharesTest : public testing::Test {
 protected:
  // Connections of one second, spread evenly over it.
  void Receive(const std::map<int, int>& connections) {
    for (int step = 1; step <= 10; ++step) {
      for (const auto& [cpu, count] : connections) {
        for (int i = count * (step - 1) / 10; i < count * step / 10; ++i) shares_.Count(cpu);
      }
      now_ns_ += kSecond / 10;
      shares_.Shares(now_ns_);
    }
  }
  double ShareOf(int cpu) {
    for (const Receiver& receiver : shares_.Shares(now_ns_)) {
      if (receiver.cpu == cpu) return receiver.share;
    }
    return 0;
  }

  uint64_t now_ns_ = 5 * kSecond;
  ReceiveShares shares_{Machine(), kHalfLife, now_ns_};
};

TEST_F(ReceiveSharesTest, AreEqualAtTheStart) {
  now_ns_ += 3600 * kSecond;
  for (int cpu = 0; cpu < 4; ++cpu) EXPECT_DOUBLE_EQ(ShareOf(cpu), 0.25);
  EXPECT_EQ(ShareOf(-1), 0);
}

TEST_F(ReceiveSharesTest, DoNotKeepCpusThatReceiveNothing) {
  for (int i = 0; i < 120; ++i) Receive({{1, 300}, {3, 100}});
  EXPECT_NEAR(ShareOf(1), 0.75, 0.001);
  EXPECT_NEAR(ShareOf(3), 0.25, 0.001);
  EXPECT_EQ(shares_.Shares(now_ns_).size(), 2u);
}

TEST_F(ReceiveSharesTest, FollowWhatReceivesByTheHalfLife) {
  for (int i = 0; i < 120; ++i) Receive({{0, 1000}});
  for (int i = 0; i < 10; ++i) Receive({{2, 1000}});
  EXPECT_NEAR(ShareOf(2), 0.5, 0.01);
  for (int i = 0; i < 10; ++i) Receive({{2, 1000}});
  EXPECT_NEAR(ShareOf(2), 0.75, 0.01);
}

TEST_F(ReceiveSharesTest, DoNotForgetWhileNothingIsReceived) {
  for (int i = 0; i < 120; ++i) Receive({{0, 300}, {1, 100}});
  now_ns_ += 3600 * kSecond;
  EXPECT_NEAR(ShareOf(0), 0.75, 0.001);
  Receive({{3, 1}});  // and the first one afterwards does not decide
  EXPECT_LT(ShareOf(3), 0.01);
}

TEST_F(ReceiveSharesTest, DoNotDependOnHowOftenTheyAreAsked) {
  ReceiveShares other(Machine(), kHalfLife, now_ns_);
  for (int i = 0; i < 1000; ++i) {
    const int cpu = i % 3;
    shares_.Count(cpu);
    other.Count(cpu);
    now_ns_ += kSecond / 1000;
    shares_.Shares(now_ns_);
  }
  EXPECT_LT(Drift(shares_.Shares(now_ns_), other.Shares(now_ns_)), 0.01);
}

TEST_F(ReceiveSharesTest, CountUnknownCpusAsNotSaid) {
  for (int i = 0; i < 120; ++i) Receive({{-1, 100}, {4, 100}, {70000, 100}, {2, 100}});
  EXPECT_NEAR(ShareOf(-1), 0.75, 0.001);
  EXPECT_NEAR(ShareOf(2), 0.25, 0.001);
}

TEST_F(ReceiveSharesTest, AddUpToOneInAscendingOrder) {
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    Receive({{static_cast<int>(random() % 5) - 1, static_cast<int>(random() % 2000)}});
    double total = 0;
    int last = -2;
    for (const Receiver& receiver : shares_.Shares(now_ns_)) {
      EXPECT_GT(receiver.cpu, last);
      last = receiver.cpu;
      total += receiver.share;
    }
    EXPECT_NEAR(total, 1, 5 * ReceiveShares::kLeastShare);
  }
}

// Looks every 100 ms, as long as it is told, and takes new shares when they have drifted.
class Watched {
 public:
  explicit Watched(int cpus)
      : shares_(*Topology::Read("synthetic:core:" + std::to_string(cpus) + " pu:1"), kHalfLife, 0) {
  }

  void Receive(int cpus, int per_second, int seconds) {
    for (int look = 0; look < 10 * seconds; ++look) {
      due_ += per_second;
      for (; due_ >= 10; due_ -= 10) shares_.Count(static_cast<int>(random_()) & (cpus - 1));
      now_ns_ += kSecond / 10;
      std::vector<Receiver> now = shares_.Shares(now_ns_);
      if (Drift(taken_, now) <= shares_.WorthwhileDrift(now)) continue;
      taken_ = std::move(now);
      ++times_;
    }
  }
  const std::vector<Receiver>& taken() const { return taken_; }
  int times() const { return times_; }

 private:
  ReceiveShares shares_;
  std::mt19937 random_{1};
  uint64_t now_ns_ = 0;
  int due_ = 0;
  std::vector<Receiver> taken_;
  int times_ = 0;
};

TEST(WorthwhileDrift, IsNotReachedByChance) {
  for (const int cpus : {2, 8, 64, 256}) {
    for (const int per_second : {5, 20, 100, 1000}) {
      Watched watched(cpus);
      watched.Receive(cpus, per_second, 660);
      EXPECT_LE(watched.times(), 2) << cpus << " CPUs, each second " << per_second;
    }
  }
}

// CPUs that received once must not keep a tenth of what others receive for good.
TEST(WorthwhileDrift, LeavesLittleOfWhatIsNotSoAnyMore) {
  Watched watched(64);
  watched.Receive(64, 1000, 60);
  watched.Receive(8, 1000, 120);
  double gone = 0;
  for (const Receiver& receiver : watched.taken()) gone += receiver.cpu < 8 ? 0 : receiver.share;
  EXPECT_LT(gone, 0.05);
}

TEST(Drift, IsThePartOfConnectionsThatGoesElsewhere) {
  const std::vector<Receiver> a{{0, 1}, {2, 1}, {4, 2}};
  const std::vector<Receiver> b{{0, 25}, {1, 25}, {4, 50}};
  EXPECT_DOUBLE_EQ(Drift(a, a), 0);
  EXPECT_DOUBLE_EQ(Drift(a, b), 0.25);
  EXPECT_DOUBLE_EQ(Drift(b, a), 0.25);
  EXPECT_DOUBLE_EQ(Drift(a, std::vector<Receiver>{{-1, 3}, {9, 3}}), 1);
  EXPECT_DOUBLE_EQ(Drift({}, {}), 0);
}

}  // namespace
}  // namespace ringdeal
