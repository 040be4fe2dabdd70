// What a worker gets that joins at load, by every policy, over a clock that the test moves.
#include "daemon/dealing/slow_start.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/dealing_table.h"

namespace ringdeal {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kStart = 1000 * kSecond;
constexpr uint64_t kDuration = 30 * kSecond;

TEST(SlowStart, DoesNotSlowTheFirst) {
  SlowStart slow;
  slow.Begin(0, {}, kDuration, kStart);
  EXPECT_EQ(slow.PartOf(0, kDuration, kStart), kWholePart);
}

TEST(SlowStart, GrowsEvenlyToTheWholeAndIsExactFromThenOn) {
  SlowStart slow;
  slow.Begin(0, {}, kDuration, kStart);
  const uint64_t came = kStart + 100 * kSecond;
  slow.Begin(1, {0, 50.0}, kDuration, came);
  uint32_t before = 0;
  for (uint64_t age = 0; age < kDuration; age += kSecond / 7) {
    const uint32_t part = slow.PartOf(1, kDuration, came + age);
    EXPECT_GE(part, before);
    EXPECT_GE(part, 1u);
    EXPECT_NEAR(part, static_cast<double>(kWholePart) * static_cast<double>(age) / kDuration, 1.0);
    before = part;
  }
  EXPECT_EQ(slow.PartOf(1, kDuration, came + kDuration), kWholePart);
  EXPECT_EQ(slow.PartOf(1, kDuration, came + 100 * kDuration), kWholePart);
}

TEST(SlowStart, DoesNotSlowThoseThatComeTogetherWhileNobodyHasMuch) {
  SlowStart slow;
  for (Slot slot = 0; slot < 8; ++slot) {
    const uint64_t now = kStart + slot * kSecond / 5;
    slow.Begin(slot, {0, 4.0}, kDuration, now);
    EXPECT_EQ(slow.PartOf(slot, kDuration, now), kWholePart) << slot;
  }
  for (Slot slot = 0; slot < 8; ++slot) {
    EXPECT_EQ(slow.PartOf(slot, kDuration, kStart + 2 * kSecond), kWholePart) << slot;
  }
}

TEST(SlowStart, SlowsOneThatComesAtLoadHoweverSoonAfterTheFirst) {
  SlowStart slow;
  slow.Begin(0, {}, kDuration, kStart);
  const uint64_t now = kStart + kSecond / 10;
  slow.Begin(1, {0, 100.0}, kDuration, now);
  EXPECT_EQ(slow.PartOf(1, kDuration, now), 1u);
  slow.Begin(2, {0, 0.0}, kDuration, kStart + 3 * kSecond);
  EXPECT_EQ(slow.PartOf(2, kDuration, kStart + 3 * kSecond), 1u);
}

TEST(SlowStart, DoesNotSlowOneThatComesBackWithItsShare) {
  SlowStart slow;
  slow.Begin(0, {90, 0.0}, kDuration, kStart);
  uint64_t now = kStart + kSecond;
  slow.Begin(1, {100, 90.0}, kDuration, now);
  EXPECT_EQ(slow.PartOf(1, kDuration, now), kWholePart);
  EXPECT_EQ(slow.PartOf(0, kDuration, now), kWholePart) << "nor the first by it";
  now = kStart + 10 * kDuration;
  slow.Begin(2, {50, 100.0}, kDuration, now);
  EXPECT_EQ(slow.PartOf(2, kDuration, now), kWholePart / 2);
  EXPECT_EQ(slow.PartOf(2, kDuration, now + kDuration / 4), kWholePart * 3 / 4);
}

TEST(SlowStart, DoesNotSlowThoseWhoseEldersHaveLeft) {
  SlowStart slow;
  slow.Begin(0, {}, kDuration, kStart);
  const uint64_t now = kStart + 100 * kSecond;
  for (const Slot slot : {1, 2}) {
    slow.Begin(slot, {0, 100.0}, kDuration, now + slot * kSecond);
    EXPECT_EQ(slow.PartOf(slot, kDuration, now + slot * kSecond), 1u);
  }
  for (const Slot slot : {0, 1, 2}) slow.See(slot);
  slow.EndRound(kDuration, now + 3 * kSecond);
  EXPECT_LT(slow.PartOf(1, kDuration, now + 3 * kSecond), kWholePart / 10);
  for (const Slot slot : {1, 2}) slow.See(slot);
  slow.EndRound(kDuration, now + 3 * kSecond);
  EXPECT_EQ(slow.PartOf(1, kDuration, now + 3 * kSecond), kWholePart);
  EXPECT_EQ(slow.PartOf(2, kDuration, now + 3 * kSecond), kWholePart * 29 / 30);
  slow.Begin(3, {0, 100.0}, kDuration, now + 4 * kSecond);
  EXPECT_EQ(slow.PartOf(3, kDuration, now + 4 * kSecond), 1u) << "who comes later is slowed";
  EXPECT_EQ(slow.PartOf(3, kDuration, now + 19 * kSecond), kWholePart / 2);
}

TEST(SlowStart, DoesNotMakeTheNextInASlotAsOldAsTheOneBefore) {
  SlowStart slow;
  for (const Slot slot : {0, 1}) slow.Begin(slot, {}, kDuration, kStart);
  slow.Forget(1);
  EXPECT_FALSE(slow.HasBegun(1));
  slow.Begin(1, {0, 9.0}, kDuration, kStart + 100 * kSecond);
  EXPECT_EQ(slow.PartOf(1, kDuration, kStart + 100 * kSecond), 1u);
  slow.Forget(0);
  slow.Forget(1);
  slow.Begin(0, {0, 9.0}, kDuration, kStart + 200 * kSecond);
  EXPECT_EQ(slow.PartOf(0, kDuration, kStart + 200 * kSecond), kWholePart) << "all are new";
}

TEST(SlowStart, HasNoEffectWithoutADurationAndTakesAChangedOneAtOnce) {
  SlowStart slow;
  slow.Begin(0, {}, 0, kStart);
  slow.Begin(1, {0, 100.0}, 0, kStart + 100 * kSecond);
  EXPECT_EQ(slow.PartOf(1, 0, kStart + 101 * kSecond), kWholePart);
  EXPECT_EQ(slow.PartOf(1, 4 * kSecond, kStart + 101 * kSecond), kWholePart / 4);
  EXPECT_EQ(slow.PartOf(0, 4 * kSecond, kStart + 101 * kSecond), kWholePart);
  EXPECT_EQ(slow.PartOf(1, 0, kStart + 101 * kSecond), kWholePart);
}

// Workers that are looked at as the dealer looks at them: the picked one, and four in rotation.
class Crowd {
 public:
  Crowd(const Policy& policy, const std::vector<uint32_t>& weights)
      : table_(&policy, "pack:2 l3:1 core:4 pu:2", Placed(policy, weights), {0, 15}) {
    for (const Slot slot : table_.view.members()) Look(slot, kStart);
  }

  View& view() { return table_.view; }
  uint64_t load(Slot slot) { return view().worker(slot).load; }

  Slot Join(uint32_t weight, int cpu) {
    const Slot slot = static_cast<Slot>(table_.workers.size());
    table_.workers.push_back({cpu, weight});
    view().Add(slot, weight);
    Look(slot, now);
    table_.Redeal({{0, 1}, {15, 1}});
    return slot;
  }

  Slot Deal() {
    for (size_t i = 0; i < std::min<size_t>(4, view().size()); ++i) {
      Look(*view().NextToRead(), now);
      if (view().IsRoundOver()) slow_.EndRound(kDuration, now);
    }
    const ReceivingCpu cpu = ++deals_ % 3 == 0 ? 15 : 0;
    if (const auto next = view().NextOfRow(cpu)) Look(*next, now);
    Look(view().Pick(cpu).value(), now);
    return table_.Deal(cpu);
  }

  void Close(Slot slot) { table_.Close(slot); }

  uint64_t now = kStart + 100 * kSecond;

 private:
  // With exact-claim nobody sits where something is received: then the least loaded is picked.
  static std::vector<DealingTable::Worker> Placed(const Policy& policy,
                                                  const std::vector<uint32_t>& weights) {
    std::vector<DealingTable::Worker> workers;
    int cpu = 0;
    for (const uint32_t weight : weights) {
      workers.push_back({policy.by_rows ? (3 * cpu++) % 16 : -1, weight});
    }
    return workers;
  }

  void Look(Slot slot, uint64_t at_ns) {
    const WorkerView worker = view().worker(slot);
    if (!slow_.HasBegun(slot)) {
      slow_.Begin(slot, {worker.load, view().DueLoad(slot)}, kDuration, at_ns);
    }
    slow_.See(slot);
    view().SetPart(slot, slow_.PartOf(slot, kDuration, at_ns));
    view().Update(slot, worker.load, Standing::kEligible);
  }

  DealingTable table_;
  SlowStart slow_;
  uint64_t deals_ = 0;
};

// Connections come and go, so that each of the old ones keeps about a hundred.
TEST(SlowStart, LetsAWorkerThatComesAtLoadCatchUpByAndByByEveryPolicy) {
  for (const Policy& policy : Policies()) {
    for (const uint32_t weight : {1u, 3u}) {
      SCOPED_TRACE(std::string(policy.name) + ", weight " + std::to_string(weight));
      std::mt19937 random(weight);
      Crowd crowd(policy, {1, 1, 2, 4});
      std::vector<Slot> open;
      while (open.size() < 800) open.push_back(crowd.Deal());
      const Slot late = crowd.Join(weight, policy.by_rows ? 5 : -1);
      const uint64_t began = crowd.now;
      uint64_t given = 0, due_given = 0;
      for (int step = 0; step < 24'000; ++step) {
        crowd.now += kDuration / 20'000;
        std::swap(open[random() % open.size()], open.back());
        crowd.Close(open.back());
        open.back() = crowd.Deal();
        const double part =
            std::min(1.0, static_cast<double>(crowd.now - began) / static_cast<double>(kDuration));
        const double mean = 800.0 / (8 + part * weight);  // for each unit of weight
        const double share = part * mean * weight;
        given += open.back() == late ? 1 : 0;
        due_given += 1;
        if (std::string(policy.name) == "round-robin") {
          // It does not look at loads: bounded by what a tenth of the turns are, of each tenth.
          if (step == 2000) {
            EXPECT_LE(given, 2000 * 0.1 * weight / 8 + 3);
          }
          continue;
        }
        const double slack = policy.by_rows ? 0.125 * mean * weight + weight + 2 : weight + 2;
        ASSERT_LE(static_cast<double>(crowd.load(late)), share + slack) << step;
        ASSERT_GE(static_cast<double>(crowd.load(late)),
                  share * (policy.by_rows ? 0.85 : 1) - slack)
            << step;
      }
      EXPECT_GT(given, due_given / 50);
    }
  }
}

TEST(SlowStart, GivesTheNewcomerNoMoreTurnsThanItsPartByRoundRobinAndAllOfThemInTheEnd) {
  Crowd crowd(*FindPolicy("round-robin"), {1, 1, 1, 1});
  const Slot late = crowd.Join(1, -1);
  for (int tenth = 0; tenth < 12; ++tenth) {
    int given = 0;
    for (int deal = 0; deal < 2000; ++deal) {
      crowd.now += kDuration / 20'000;
      const Slot slot = crowd.Deal();
      crowd.Close(slot);
      given += slot == late ? 1 : 0;
    }
    const double most = std::min(1.0, (tenth + 1) / 10.0), least = std::min(1.0, tenth / 10.0);
    EXPECT_LE(given, 2000 * most / (4 + most) + 2) << tenth;
    EXPECT_GE(given, 2000 * least / (4 + least) - 2) << tenth;
  }
}

TEST(SlowStart, DoesNotStarveTheOnlyOneThatIsEligible) {
  for (const Policy& policy : Policies()) {
    Crowd crowd(policy, {1, 1});
    for (int i = 0; i < 100; ++i) crowd.Deal();
    const Slot late = crowd.Join(1, -1);
    for (const Slot old : {0, 1}) {
      crowd.view().Update(old, crowd.load(old), Standing::kUnavailable);
    }
    for (int i = 0; i < 50; ++i) ASSERT_EQ(crowd.view().Pick(0), late) << policy.name;
  }
}

TEST(SlowStart, GivesTheNewcomerItsFirstConnectionAtOnce) {
  for (const char* policy : {"ring-deal", "least-loaded"}) {
    Crowd crowd(*FindPolicy(policy), {1, 1});
    for (int i = 0; i < 100; ++i) crowd.Deal();
    const Slot late = crowd.Join(1, -1);
    EXPECT_EQ(crowd.Deal(), late) << policy;
    for (int i = 0; i < 100; ++i) EXPECT_NE(crowd.Deal(), late) << policy;
  }
}

}  // namespace
}  // namespace ringdeal
