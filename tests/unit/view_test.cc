#include "daemon/dealing/view.h"

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/dealing/policy.h"
#include "tests/unit/dealing_table.h"

namespace ringdeal {
namespace {

View ViewOf(const char* policy, const std::vector<uint32_t>& weights) {
  View view(FindPolicy(policy));
  for (Slot slot = 0; slot < weights.size(); ++slot) {
    view.Add(slot, weights[slot]);
    view.Update(slot, 0, Standing::kEligible);
  }
  return view;
}

std::map<Slot, int> DealMany(View* view, int connections) {
  std::map<Slot, int> dealt;
  for (int i = 0; i < connections; ++i) {
    const Slot slot = view->Pick(-1).value();
    view->Dealt(slot, -1);
    ++dealt[slot];
  }
  return dealt;
}

TEST(LeastLoaded, DoesNotGiveOneWorkerMoreThanItsShareOfABurst) {
  for (const size_t workers : {2, 3, 5, 64}) {
    View view = ViewOf("least-loaded", std::vector<uint32_t>(workers, 1));
    const auto dealt = DealMany(&view, 32);
    const auto [least, most] = std::minmax_element(
        dealt.begin(), dealt.end(), [](auto& a, auto& b) { return a.second < b.second; });
    EXPECT_LE(most->second - least->second, 1);
    EXPECT_EQ(dealt.size(), std::min<size_t>(workers, 32));
  }
}

TEST(LeastLoaded, DoesNotGiveEveryTieToTheFirst) {
  View view = ViewOf("least-loaded", {1, 1, 1});
  std::map<Slot, int> dealt;
  for (int i = 0; i < 30; ++i) {  // one connection open at a time
    const Slot slot = view.Pick(-1).value();
    view.Dealt(slot, -1);
    ++dealt[slot];
    view.Update(slot, 0, Standing::kEligible);
  }
  EXPECT_EQ(dealt, (std::map<Slot, int>{{0, 10}, {1, 10}, {2, 10}}));
}

TEST(LeastLoaded, DoesNotTreatAHeavyWorkerAsALightOne) {
  View view = ViewOf("least-loaded", {3, 1});
  EXPECT_EQ(DealMany(&view, 40), (std::map<Slot, int>{{0, 30}, {1, 10}}));
}

TEST(LeastLoaded, DoesNotPickALoadedWorkerWhileAnotherIsIdle) {
  View view = ViewOf("least-loaded", {1, 1});
  view.Update(0, 7, Standing::kEligible);
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(view.Pick(-1), Slot{1});
    view.Dealt(1, -1);
  }
}

TEST(RoundRobin, DoesNotLookAtLoad) {
  View view = ViewOf("round-robin", {1, 1});
  view.Update(0, 100, Standing::kEligible);
  EXPECT_EQ(DealMany(&view, 10), (std::map<Slot, int>{{0, 5}, {1, 5}}));
}

TEST(RoundRobin, DoesNotIgnoreWeights) {
  View view = ViewOf("round-robin", {2, 1});
  EXPECT_EQ(DealMany(&view, 30), (std::map<Slot, int>{{0, 20}, {1, 10}}));
}

TEST(RoundRobin, DoesNotLetALateJoinerCatchUpOnWhatItMissed) {
  View view = ViewOf("round-robin", {1, 1});
  DealMany(&view, 1000);
  view.Add(2, 1);
  view.Update(2, 0, Standing::kEligible);
  const auto dealt = DealMany(&view, 30);
  EXPECT_LE(dealt.at(2), 11);
  EXPECT_GE(dealt.at(2), 9);
}

// Each prefix of a burst, too, is within one connection of what the weights say.
TEST(EveryPolicy, DoesNotGiveABurstOtherwiseThanByWeight) {
  for (const Policy& policy : Policies()) {
    for (const std::vector<int>& cpus : {std::vector{-1, -1, -1, -1}, {0, 3, 8, 15}}) {
      if (cpus[0] >= 0 && policy.by_place && !policy.by_rows) continue;  // claims whatever weights
      const std::vector<uint32_t> weights = {3, 1, 4, 8};
      std::vector<DealingTable::Worker> workers;
      for (size_t i = 0; i < 4; ++i) workers.push_back({cpus[i], weights[i]});
      DealingTable table(&policy, "pack:2 l3:1 core:4 pu:2", workers, {0, 15},
                         {.slack_percent = 0});
      std::vector<uint64_t> dealt(4);
      for (int count = 1; count <= 160; ++count) {
        ++dealt[table.Deal(count % 3 == 0 ? 15 : 0)];
        for (size_t i = 0; i < 4; ++i) {
          const double due = count * weights[i] / 16.0;
          ASSERT_NEAR(static_cast<double>(dealt[i]), due, 2.0) << policy.name << " " << count;
        }
        if (count % 16 != 0) continue;
        for (size_t i = 0; i < 4; ++i) {
          EXPECT_EQ(dealt[i], static_cast<uint64_t>(count) / 16 * weights[i]) << policy.name;
        }
      }
    }
  }
}

TEST(EveryPolicy, PicksByItsOwnOrderOnceItFollowsAnother) {
  for (const Policy& before : Policies()) {
    View view = ViewOf(before.name, {1, 1, 1, 1, 1, 1, 1, 1});
    for (Slot slot = 0; slot < 8; ++slot) view.Update(slot, (slot * 5) % 8, Standing::kEligible);
    DealMany(&view, 100);
    view.UsePolicy(FindPolicy("least-loaded"), {});
    for (int i = 0; i < 100; ++i) {
      uint64_t least = UINT64_MAX;
      for (const Slot slot : view.members()) least = std::min(least, view.worker(slot).load);
      const Slot slot = view.Pick(-1).value();
      ASSERT_EQ(view.worker(slot).load, least) << before.name;
      view.Dealt(slot, -1);
    }
    const uint64_t load = view.load();
    view.UsePolicy(FindPolicy("round-robin"), {});
    EXPECT_EQ(view.load(), load) << before.name;
    for (const auto& [slot, dealt] : DealMany(&view, 80)) EXPECT_NEAR(dealt, 10, 4) << before.name;
  }
}

TEST(EveryPolicy, DoesNotPickWhoIsUnavailable) {
  for (const Policy& policy : Policies()) {
    View view = ViewOf(policy.name, {1, 1});
    view.Update(0, 0, Standing::kUnavailable);
    EXPECT_EQ(view.Pick(-1), Slot{1}) << policy.name;
    view.Update(1, 0, Standing::kBusy);
    EXPECT_FALSE(view.Pick(-1)) << policy.name;
    EXPECT_EQ(view.FirstBusy(), Slot{1}) << policy.name;
    view.Remove(1);
    EXPECT_FALSE(view.FirstBusy()) << policy.name;
  }
}

TEST(View, DoesNotForgetAMemberInItsRotationOfReads) {
  View view = ViewOf("least-loaded", {1, 1, 1, 1, 1});
  view.Remove(2);
  std::map<Slot, int> read;
  for (int i = 0; i < 8; ++i) ++read[view.NextToRead().value()];
  EXPECT_EQ(read, (std::map<Slot, int>{{0, 2}, {1, 2}, {3, 2}, {4, 2}}));
}

}  // namespace
}  // namespace ringdeal
