#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/dealing/policy.h"
#include "daemon/dealing/view.h"
#include "tests/unit/dealing_table.h"

namespace ringdeal {
namespace {

// Sixteen cores of two threads; PUs 0, 4, 8, … receive.
constexpr char kMachine[] = "pack:1 core:16 pu:2";
const std::vector<int> kReceiving = {0, 4, 8, 12, 16, 20, 24, 28};

std::vector<DealingTable::Worker> OnEveryCpu(bool set = false) {
  std::vector<DealingTable::Worker> workers;
  for (int cpu = 0; cpu < 32; ++cpu) workers.push_back({cpu, 1, set});
  return workers;
}

std::vector<DealingTable::Worker> OnReceivingCpus() {
  std::vector<DealingTable::Worker> workers;
  for (const int cpu : kReceiving) workers.push_back({cpu});
  return workers;
}

DealingTable TableWith(std::vector<DealingTable::Worker> workers, Coverage coverage,
                       const std::vector<int>& receiving = kReceiving) {
  PolicyRules rules;
  rules.coverage = coverage;
  return {FindPolicy("exact-claim"), kMachine, std::move(workers), receiving, rules};
}

// How many connections each worker gets of 3,200, received in turn; all stay open.
std::map<Slot, int> Dealt(DealingTable* table, const std::vector<int>& receiving = kReceiving) {
  std::map<Slot, int> dealt;
  for (size_t i = 0; i < 3200; ++i) ++dealt[table->Deal(receiving[i % receiving.size()])];
  return dealt;
}

TEST(ExactClaim, LosesNoLocalityToTheGateWhereEveryWorkerIsOnAReceivingCpu) {
  for (const Coverage coverage : {Coverage::kAny, Coverage::kAll}) {
    DealingTable table = TableWith(OnReceivingCpus(), coverage);
    EXPECT_EQ(Dealt(&table).size(), 8u);
    EXPECT_EQ(table.view.counts().by_ring[0], 3200u);
  }
}

TEST(ExactClaim, LeavesWorkersIdleWithoutTheGateOnly) {
  DealingTable any = TableWith(OnEveryCpu(), Coverage::kAny);
  EXPECT_EQ(Dealt(&any).size(), 8u);
  DealingTable all = TableWith(OnEveryCpu(), Coverage::kAll);
  const auto dealt = Dealt(&all);
  ASSERT_EQ(dealt.size(), 32u);
  for (const auto& [slot, count] : dealt) EXPECT_EQ(count, 100) << slot;
}

TEST(ExactClaim, DoesNotAskTheGateWhereTheOperatorSetThePlaces) {
  DealingTable table = TableWith(OnEveryCpu(true), Coverage::kAll);
  EXPECT_EQ(Dealt(&table).size(), 8u);
  EXPECT_EQ(table.view.counts().by_ring[0], 3200u);
}

TEST(ExactClaim, ClosesTheGateForOneWhosePlaceIsNotKnown) {
  auto workers = OnReceivingCpus();
  workers.push_back({-1});
  DealingTable table = TableWith(workers, Coverage::kAll);
  EXPECT_NEAR(Dealt(&table).at(8), 3200 / 9, 1);
}

TEST(ExactClaim, ClosesTheGateForOneThatCameAfterTheDeck) {
  DealingTable table = TableWith(OnReceivingCpus(), Coverage::kAll);
  table.view.Add(8, 1);
  table.view.Update(8, 0, Standing::kEligible);
  table.workers.push_back({-1});
  EXPECT_NEAR(Dealt(&table).at(8), 3200 / 9, 1);
}

// An on-demand server's master only watches: it is a member and nobody's worker.
TEST(ExactClaim, DoesNotCloseTheGateForOneThatOnlyWatches) {
  DealingTable table = TableWith(OnReceivingCpus(), Coverage::kAll);
  table.view.Add(8, 1);
  table.RedealTo({0, 1, 2, 3, 4, 5, 6, 7}, kReceiving);
  EXPECT_EQ(Dealt(&table).size(), 8u);
  EXPECT_EQ(table.view.counts().by_ring[0], 3200u);
}

// Each of several on one CPU is reached, though not equally: what starts at a hash and walks can do
// no better.
TEST(ExactClaim, StarvesNoneOfSeveralOnOneCpu) {
  // The example of the older design: six workers, three of them on CPU 12.
  DealingTable table = TableWith({{0}, {12}, {4}, {12}, {8}, {12}}, Coverage::kAny, {0, 4, 8, 12});
  const auto dealt = Dealt(&table, {12});
  ASSERT_EQ(dealt.size(), 3u);
  for (const auto& [slot, count] : dealt) EXPECT_GT(count, 800) << slot;
}

TEST(ExactClaim, DoesNotInsistOnAClaimantThatMayBeGivenNothing) {
  DealingTable table = TableWith(OnReceivingCpus(), Coverage::kAny);
  table.view.Update(0, 0, Standing::kUnavailable);
  EXPECT_NE(table.view.Pick(0).value(), Slot{0});
}

}  // namespace
}  // namespace ringdeal
