#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/dealing/policy.h"
#include "daemon/dealing/view.h"
#include "tests/unit/dealing_table.h"

namespace ringdeal {
namespace {

// Two sockets with one cache each, cores of two threads: PUs 0 to 15, the first socket's first.
constexpr char kTwoSockets[] = "pack:2 l3:1 core:4 pu:2";

const Policy* RingDeal() { return FindPolicy("ring-deal"); }

std::vector<DealingTable::Worker> OnePerCpu(int cpus) {
  std::vector<DealingTable::Worker> workers;
  for (int cpu = 0; cpu < cpus; ++cpu) workers.push_back({cpu});
  return workers;
}

// What the guard promises, counted over all workers: how far above the least loaded, as the order
// of loads has it, one may be with this connection.
struct Guard {
  explicit Guard(const View& view) {
    double load = 0, weight = 0, workers = 0;
    for (const Slot slot : view.members()) {
      const WorkerView& worker = view.worker(slot);
      if (worker.standing != Standing::kEligible) continue;
      load += static_cast<double>(worker.load);
      weight += worker.weight;
      workers += 1;
      least = std::min(least, With(worker));
    }
    most = least + (std::max(workers, 0.125 * load) - workers) / weight + 1e-5;
  }
  static double With(const WorkerView& worker) {
    return (static_cast<double>(worker.load) + 1) / worker.weight;
  }
  bool Allows(const WorkerView& worker) const { return With(worker) <= most; }

  double least = 1e18;
  double most = 0;
};

std::pair<uint64_t, uint64_t> LeastAndMost(const View& view) {
  std::vector<uint64_t> loads;
  for (const Slot slot : view.members()) loads.push_back(view.worker(slot).load);
  const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
  return {*least, *most};
}

TEST(RingDeal, DoesNotGiveMoreThanHalfOfABurstToTheNearOfTwo) {
  for (const int cpu : {-1, 0, 1, 9, 15}) {
    DealingTable table(RingDeal(), kTwoSockets, {{0}, {15}}, {0, 15});
    for (int i = 0; i < 32; ++i) table.Deal(cpu);
    EXPECT_EQ(LeastAndMost(table.view), (std::pair<uint64_t, uint64_t>{16, 16})) << cpu;
  }
}

TEST(RingDeal, DoesNotSpreadABurstUnevenlyByMoreThanOneBelowAMeanOfSixteen) {
  std::mt19937 random(1);
  for (int run = 0; run < 50; ++run) {
    const int workers = 2 + static_cast<int>(random() % 15);
    DealingTable table(RingDeal(), kTwoSockets, OnePerCpu(workers), {0, 2, 8});
    for (int i = 0; i < 15 * workers; ++i) {
      table.Deal(static_cast<int>(random() % 16));
      const auto [least, most] = LeastAndMost(table.view);
      ASSERT_LE(most - least, 1u);
    }
  }
}

// The turns that each worker had, beside what it should have had.
struct Service {
  explicit Service(size_t workers) : turns(workers) {}

  void Count(const View& view, Slot slot) {
    double weight = 0, workers = 0;
    for (const Slot each : view.members()) {
      if (!view.IsEligible(each)) continue;
      weight += view.worker(each).weight;
      workers += 1;
    }
    turns[slot] += weight / workers / view.worker(slot).weight;
    due += 1 / workers;
  }
  // How far those within the smallest object that has both CPUs are ahead, in turns of each.
  double Ahead(const DealingTable& table, int cpu, int other) const {
    const int both[] = {cpu, other};
    const Place place = table.topology->Covering(both);
    double sum = 0, workers = 0;
    for (Slot slot = 0; slot < turns.size(); ++slot) {
      const auto& cpus = table.topology->objects()[place].cpus;
      if (std::find(cpus.begin(), cpus.end(), table.workers[slot].cpu) == cpus.end()) continue;
      sum += turns[slot];
      workers += 1;
    }
    return sum / workers - due;
  }

  std::vector<double> turns;
  double due = 0;
};

// Any order of arrivals, departures, decks and standings, weights and placements.
TEST(RingDeal, NeverPicksBeyondTheGuardNorPassesOverANearerOneWithinItThatIsNotAhead) {
  std::mt19937 random(2);
  uint64_t passed_over = 0;
  for (int run = 0; run < 40; ++run) {
    std::vector<DealingTable::Worker> workers(8 + random() % 24);
    Service service(workers.size());
    const bool weighted = run % 2 == 1;
    for (auto& worker : workers) {
      worker.cpu = static_cast<int>(random() % 18) - 1;
      if (weighted) worker.weight = 1 + random() % 4;
    }
    DealingTable table(RingDeal(), kTwoSockets, workers, {0});
    View& view = table.view;
    const size_t most_open = workers.size() * (1 + random() % 200);
    std::vector<Slot> open;
    for (int step = 0; step < 3000; ++step) {
      const uint64_t what = random() % 100;
      const Slot any = random() % workers.size();
      if (what == 0) {
        table.Redeal({{static_cast<int>(random() % 16), 1.0 + random() % 9},
                      {16 + static_cast<int>(random() % 2), 1.0}});
      } else if (what == 1) {
        view.Update(any, view.worker(any).load,
                    random() % 3 == 0 ? Standing::kUnavailable : Standing::kEligible);
      } else if (what < 45 && !open.empty()) {
        std::swap(open[random() % open.size()], open.back());
        table.Close(open.back());
        open.pop_back();
      } else if (open.size() < most_open) {
        const int cpu = static_cast<int>(random() % 17) - 1;
        const auto next = view.NextOfRow(cpu).value();
        const auto slot = view.Pick(cpu);
        if (!slot) continue;
        const Guard guard(view);
        ASSERT_TRUE(guard.Allows(view.worker(*slot)));
        const auto distance = [&](Slot to) {
          return table.topology->Distance(table.PlaceOf(cpu), table.PlaceOf(workers[to].cpu));
        };
        for (const Slot other : view.members()) {
          if (slot == next || !view.IsEligible(other)) continue;
          ASSERT_FALSE(other == next && guard.Allows(view.worker(other)) &&
                       Guard::With(view.worker(other)) < guard.most - 2e-5);
          if (Guard::With(view.worker(other)) > guard.most - 2e-5) continue;
          if (distance(other) >= distance(*slot)) continue;
          ++passed_over;
          ASSERT_GT(service.Ahead(table, cpu, workers[other].cpu), kMostAhead - 1e-6);
        }
        service.Count(view, *slot);
        view.Dealt(*slot, cpu);
        open.push_back(*slot);
      }
    }
  }
  EXPECT_GT(passed_over, 0u) << "no object was ever ahead, so this proved nothing";
}

TEST(RingDeal, DoesNotLetWeightsDriftApartInABurst) {
  std::mt19937 random(3);
  DealingTable table(RingDeal(), kTwoSockets, {{0, 3}, {3, 1}, {9, 2}, {12, 1}}, {0, 9});
  for (int i = 0; i < 49; ++i) table.Deal(static_cast<int>(random() % 16));
  EXPECT_EQ(table.view.worker(0).load, 21u);
  EXPECT_EQ(table.view.worker(1).load, 7u);
  EXPECT_EQ(table.view.worker(2).load, 14u);
  EXPECT_EQ(table.view.worker(3).load, 7u);
}

TEST(RingDeal, DoesNotLeaveTheReceivingCpuWithoutNeed) {
  DealingTable table(RingDeal(), kTwoSockets, OnePerCpu(16), {0, 5, 9, 15});
  for (int round = 0; round < 50; ++round) {  // one connection open at a time
    for (const int cpu : {0, 5, 9, 15}) {
      const Slot slot = table.Deal(cpu);
      EXPECT_LE(
          table.topology->Distance(table.PlaceOf(cpu), table.PlaceOf(table.workers[slot].cpu)), 2);
      table.Close(slot);
    }
  }
  EXPECT_EQ(table.view.counts().by_ring[3] + table.view.counts().by_ring[4], 0u);
  EXPECT_EQ(table.view.counts().turned_away, 0u);
}

TEST(RingDeal, DoesNotStarveWorkersWhoseCpusReceiveNothing) {
  DealingTable table(RingDeal(), kTwoSockets, OnePerCpu(16), {0, 2});
  std::map<Slot, int> dealt;
  for (int i = 0; i < 1600; ++i) {
    const Slot slot = table.Deal(i % 2 * 2);
    ++dealt[slot];
    table.Close(slot);
  }
  ASSERT_EQ(dealt.size(), 16u);
  for (const auto& [slot, count] : dealt) EXPECT_NEAR(count, 100, 1) << slot;
}

// What the guard turns away goes to the nearest; that must not give the near socket more for good.
TEST(RingDeal, DoesNotGiveTheSocketThatReceivesMoreThanItsShare) {
  std::mt19937 random(5);
  DealingTable table(RingDeal(), kTwoSockets, OnePerCpu(16), {0, 2, 4, 6});
  std::vector<Slot> open;  // as many as workers, each for equally long
  std::map<Slot, int> dealt;
  for (size_t i = 0; i < 32000; ++i) {
    if (i >= 16) table.Close(open[i - 16]);
    open.push_back(table.Deal(static_cast<int>(random() % 4) * 2));
    ++dealt[open.back()];
  }
  for (const auto& [slot, count] : dealt) EXPECT_NEAR(count, 2000, 30) << slot;
}

TEST(RingDeal, DoesNotGoFarWhenTheNearSocketIsAheadAndTheFarOneFull) {
  PolicyRules rules;
  rules.slack = 3;
  DealingTable table(RingDeal(), kTwoSockets, {{0}, {1}, {4}, {8}}, {0}, rules);
  table.view.Update(3, 50, Standing::kEligible);
  for (int i = 0; i < 300 || table.view.NextOfRow(0) != Slot{0}; ++i) {
    const Slot slot = static_cast<Slot>(i % 3);
    table.view.Dealt(slot, 0);
    table.Close(slot);
  }
  table.view.Update(0, 5, Standing::kEligible);
  table.view.Update(1, 1, Standing::kEligible);
  EXPECT_EQ(table.view.Pick(0), Slot{1}) << "its core's other worker is within the guard";
}

TEST(RingDeal, DoesNotSendTheNearSocketsTurnsAwayForWhatWasLongAgo) {
  DealingTable table(RingDeal(), kTwoSockets, {{0}, {2}, {8}, {10}}, {0});
  table.view.Update(2, 50, Standing::kEligible);
  table.view.Update(3, 50, Standing::kEligible);
  for (int i = 0; i < 4000; ++i) table.Close(table.Deal(0));
  table.view.Update(0, 9, Standing::kEligible);
  table.view.Update(2, 0, Standing::kEligible);
  table.view.Update(3, 0, Standing::kEligible);
  for (int i = 0; i < 600; ++i) table.Close(table.Deal(0));
  int near = 0;
  for (int i = 0; i < 400; ++i) {
    const Slot slot = table.Deal(0);
    if (slot == 1) ++near;
    table.Close(slot);
  }
  EXPECT_GE(near, 150) << "its own turns and those of the other on its socket";
}

TEST(RingDeal, DoesNotFavourOneOfThreeWorkersOnOneCpu) {
  for (const bool kept_open : {false, true}) {
    DealingTable table(RingDeal(), kTwoSockets, {{3}, {3}, {3}}, {3});
    std::map<Slot, int> dealt;
    for (int i = 0; i < 100; ++i) {
      const Slot slot = table.Deal(3);
      ++dealt[slot];
      if (!kept_open) table.Close(slot);
      if (i < 3) continue;
      const auto [least, most] = std::minmax_element(
          dealt.begin(), dealt.end(), [](auto& a, auto& b) { return a.second < b.second; });
      ASSERT_LE(most->second - least->second, 1);
    }
  }
}

TEST(RingDeal, DoesNotGiveEveryTieOfNeighboursToTheSame) {
  // The row's own worker is loaded; its three neighbours in the cache group are equal.
  DealingTable table(RingDeal(), kTwoSockets, {{0}, {2}, {4}, {6}, {8}}, {0, 2, 4, 6, 8});
  std::map<Slot, int> dealt;
  table.view.Update(0, 5, Standing::kEligible);
  for (int i = 0; i < 30; ++i) {
    const Slot slot = table.Deal(0);
    ++dealt[slot];
    table.Close(slot);
  }
  EXPECT_EQ(dealt, (std::map<Slot, int>{{1, 10}, {2, 10}, {3, 10}}));
  EXPECT_EQ(table.view.counts().turned_away, 30u);
  EXPECT_EQ(table.view.counts().by_ring, (std::array<uint64_t, 5>{0, 0, 30, 0, 0}));
}

TEST(RingDeal, DoesNotPreferOneInALongPass) {
  DealingTable table(RingDeal(), kTwoSockets, {{0}, {2}}, {0, 2});
  table.view.Update(0, 0, Standing::kEligible, true);
  EXPECT_EQ(table.view.Pick(0), Slot{1});
  table.view.Update(1, 0, Standing::kEligible, true);
  EXPECT_EQ(table.view.Pick(0), Slot{0}) << "both are in one, so the near one it is";
  table.view.Update(1, 1, Standing::kEligible, false);
  EXPECT_EQ(table.view.Pick(0), Slot{0}) << "it is the least loaded";
}

TEST(RingDeal, DoesNotMissANeighbourBehindOneInALongPass) {
  PolicyRules rules;
  rules.slack = 3;
  DealingTable table(RingDeal(), kTwoSockets, {{0}, {2}, {4}, {8}}, {0, 2, 4, 8}, rules);
  table.view.Update(0, 9, Standing::kEligible);
  table.view.Update(1, 0, Standing::kEligible, true);
  table.view.Update(2, 1, Standing::kEligible);
  EXPECT_EQ(table.view.Pick(0), Slot{2});
}

TEST(RingDeal, DoesNotPassOverWhoIsOwedMoreAmongEquals) {
  DealingTable table(RingDeal(), kTwoSockets, {{0}, {2}, {4}}, {0, 2, 4});
  for (const Slot slot : {1, 1, 1, 2}) table.view.Dealt(slot, -1);
  table.view.Update(0, 9, Standing::kEligible);
  table.view.Update(1, 0, Standing::kEligible);
  table.view.Update(2, 0, Standing::kEligible);
  EXPECT_EQ(table.view.Pick(0), Slot{2}) << "though it was dealt to last";
}

TEST(RingDeal, DoesNotMakeUpForALongTimeAllAtOnce) {
  DealingTable table(RingDeal(), kTwoSockets, {{0}, {2}, {4}}, {0, 2, 4});
  for (int i = 0; i < 100; ++i) table.view.Dealt(1, -1);
  table.view.Update(0, 9, Standing::kEligible);
  table.view.Update(1, 0, Standing::kEligible);
  std::map<Slot, int> dealt;
  for (int i = 0; i < 20; ++i) {
    const Slot slot = table.Deal(0);
    ++dealt[slot];
    table.Close(slot);
  }
  EXPECT_GE(dealt[1], 6);
}

TEST(RingDeal, DoesNotLookForItsOwnAmongThoseThatLeft) {
  DealingTable table(RingDeal(), kTwoSockets, {{0}, {2}, {9}}, {0, 2, 9});
  table.view.Remove(0);
  EXPECT_EQ(table.view.Pick(0), Slot{1});
  // Who takes the slot does not sit where its predecessor sat.
  table.view.Add(0, 1);
  table.view.Update(0, 0, Standing::kEligible);
  table.view.Dealt(0, 0);
  EXPECT_EQ(table.view.counts().by_ring[kFarthestRing], 1u);
}

TEST(RingDeal, DoesNotBeginItsRowsAnewWithEachDeck) {
  DealingTable table(RingDeal(), kTwoSockets, {{0}, {1}, {2}}, {0});
  std::map<Slot, int> dealt;
  for (int i = 0; i < 30; ++i) {
    const Slot slot = table.Deal(0);
    ++dealt[slot];
    table.Close(slot);
    table.Redeal({{0, 1}});
  }
  EXPECT_EQ(dealt, (std::map<Slot, int>{{0, 10}, {1, 10}, {2, 10}}));
}

TEST(RingDeal, DealsAsLeastLoadedWithoutADeck) {
  View view(RingDeal());
  for (Slot slot = 0; slot < 3; ++slot) {
    view.Add(slot, 1);
    view.Update(slot, slot, Standing::kEligible);
  }
  std::vector<Slot> dealt;
  for (int i = 0; i < 6; ++i) {
    dealt.push_back(view.Pick(0).value());
    view.Dealt(dealt.back(), 0);
  }
  EXPECT_EQ(dealt, (std::vector<Slot>{0, 1, 0, 2, 1, 0}));
  EXPECT_EQ(view.counts().by_ring, (std::array<uint64_t, 5>{}));
}

// How many workers a pick looks at.
uint64_t ranked = 0;

Rank CountRank(const WorkerView& worker) {
  ++ranked;
  return RingDeal()->rank(worker);
}

TEST(RingDeal, DoesNotLookAtMoreWorkersWhenThereAreMore) {
  Policy counting = *RingDeal();
  counting.rank = CountRank;
  std::vector<DealingTable::Worker> workers;
  for (int i = 0; i < 1024; ++i) workers.push_back({i % 256});
  DealingTable table(&counting, "pack:4 l3:4 core:8 pu:2", workers, {0, 64, 128});
  std::mt19937 random(4);
  for (int i = 0; i < 4000; ++i) {
    const int cpu = static_cast<int>(random() % 256);
    ranked = 0;
    const Slot slot = table.view.Pick(cpu).value();
    ASSERT_LE(ranked, 12u);
    table.view.Dealt(slot, cpu);
  }
}

// A counter that goes back is taken for one that began anew.
TEST(RingDeal, DoesNotForgetWhatItCountedWhileThereAreNoWorkers) {
  DealingTable table(RingDeal(), kTwoSockets, OnePerCpu(2), {0});
  for (int i = 0; i < 10; ++i) table.Deal(0);
  table.view.Remove(0);
  table.view.Remove(1);
  table.Redeal({{0, 1}});
  ListenerSnapshot snapshot;
  table.view.Show(&snapshot);
  EXPECT_TRUE(snapshot.deck.empty());
  ASSERT_EQ(snapshot.deals_by_ring.size(), size_t{kFarthestRing} + 1);
  EXPECT_EQ(snapshot.deals_by_ring["0"] + snapshot.deals_by_ring["1"], 10u);
}

// A worker may say of itself that it holds any number of connections.
TEST(RingDeal, TakesNoWorkerForIdleThatSaysItHoldsMoreThanCanBeCounted) {
  DealingTable table(RingDeal(), kTwoSockets, OnePerCpu(4), {0, 1, 2, 3});
  table.view.Update(0, uint64_t{1} << 48, Standing::kEligible);
  for (int i = 0; i < 40; ++i) EXPECT_NE(table.Deal(i % 4), Slot{0});
}

}  // namespace
}  // namespace ringdeal
