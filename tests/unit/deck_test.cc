#include "daemon/dealing/deck.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "tests/unit/cheapest_transport.h"

namespace ringdeal {
namespace {

using Row = Deck::Row;
using Stake = Deck::Stake;

Topology Synthetic(const std::string& description) {
  auto topology = Topology::Read("synthetic:" + description);
  EXPECT_TRUE(topology.ok()) << topology.error();
  return topology.ok() ? *topology : Topology();
}

std::map<Slot, double> Shares(const Deck& deck) {
  std::map<Slot, double> shares;
  for (const Row& row : deck.rows()) {
    for (const Stake& stake : row.stakes) shares[stake.slot] += stake.share;
  }
  return shares;
}

double RowShare(const Row& row) {
  double share = 0;
  for (const Stake& stake : row.stakes) share += stake.share;
  return share;
}

double Cost(const Deck& deck) {
  double cost = 0;
  for (const Row& row : deck.rows()) {
    for (const Stake& stake : row.stakes) cost += stake.share * stake.ring;
  }
  return cost;
}

// Half the sum of what the stakes of two decks differ by: the connections that go elsewhere.
double Moved(const Deck& before, const Deck& after) {
  std::map<std::pair<int, Slot>, double> differences;
  for (const Row& row : before.rows()) {
    for (const Stake& stake : row.stakes) differences[{row.cpu, stake.slot}] -= stake.share;
  }
  for (const Row& row : after.rows()) {
    for (const Stake& stake : row.stakes) differences[{row.cpu, stake.slot}] += stake.share;
  }
  double moved = 0;
  for (const auto& [_, difference] : differences) moved += std::abs(difference) / 2;
  return moved;
}

std::string SlotsOf(const Row& row) {
  std::string slots;
  for (const Slot slot : row.sequence) slots += std::to_string(slot) + " ";
  return slots;
}

// One worker on each of the CPUs.
std::vector<Claim> Pinned(const Topology& topology, const std::vector<int>& cpus) {
  std::vector<Claim> claims;
  for (const int cpu : cpus) {
    claims.push_back({static_cast<Slot>(claims.size()), 1, topology.PlaceOf(cpu).value()});
  }
  return claims;
}

std::vector<Receiver> EqualReceivers(const std::vector<int>& cpus) {
  std::vector<Receiver> receivers;
  for (const int cpu : cpus) receivers.push_back({cpu, 1});
  return receivers;
}

std::vector<int> FirstNumbers(int count) {
  std::vector<int> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

struct Machine {
  Topology topology;
  std::vector<Receiver> receivers;
  std::vector<Claim> claims;
};

// Shares and weights are whole numbers of the same total.
Machine RandomMachine(std::mt19937* random, size_t most) {
  static const char* const kDescriptions[] = {
      "pack:2 l3:2 core:2 pu:2", "core:5 pu:1", "numa:2 pack:2 l3:2 core:1 pu:2",
      "pack:2 l3:1 l2:2 core:2 pu:1(indexes=0,10,20,30,40,50,60,70)", "pack:1 core:1 pu:1"};
  Machine machine{Synthetic(kDescriptions[(*random)() % std::size(kDescriptions)]), {}, {}};
  const auto& cpus = machine.topology.objects()[kAnywhere].cpus;
  std::set<int> receiving;
  while (receiving.size() < std::min(cpus.size(), 1 + (*random)() % most)) {
    receiving.insert(cpus[(*random)() % cpus.size()]);
  }
  if ((*random)() % 4 == 0) receiving.insert((*random)() % 2 == 0 ? -1 : 99);
  int total = 0;
  for (const int cpu : receiving) {
    machine.receivers.push_back({cpu, static_cast<double>(1 + (*random)() % 9)});
    total += static_cast<int>(machine.receivers.back().share);
  }
  const size_t workers = std::min<size_t>(static_cast<size_t>(total), 1 + (*random)() % most);
  for (Slot slot = 0; slot < workers; ++slot) {
    const auto place = static_cast<Place>((*random)() % machine.topology.objects().size());
    machine.claims.push_back({slot * 3, 1, place});
  }
  for (int rest = total - static_cast<int>(workers); rest > 0; --rest) {
    machine.claims[(*random)() % workers].weight += 1;
  }
  return machine;
}

TEST(Deck, GivesEveryWorkerItsShareAndSpendsThatOfEveryCpu) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const Machine machine = RandomMachine(&random, 12);
    const Deck deck = Deck::Deal(machine.topology, machine.receivers, machine.claims);
    double total = 0;
    for (const Receiver& receiver : machine.receivers) total += receiver.share;
    ASSERT_EQ(deck.rows().size(), machine.receivers.size());
    for (size_t i = 0; i < deck.rows().size(); ++i) {
      EXPECT_EQ(deck.rows()[i].cpu, machine.receivers[i].cpu);
      EXPECT_NEAR(RowShare(deck.rows()[i]), machine.receivers[i].share / total, 1e-8);
    }
    std::map<Slot, double> shares = Shares(deck);
    for (const Claim& claim : machine.claims) {
      EXPECT_NEAR(shares[claim.slot], claim.weight / total, 1e-8);
    }
  }
}

TEST(Deck, DoesNotSendAConnectionFartherThanItMust) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const Machine machine = RandomMachine(&random, 5);
    std::vector<int> supplies, demands;
    std::vector<std::vector<int>> costs;
    for (const Claim& claim : machine.claims) demands.push_back(static_cast<int>(claim.weight));
    for (const Receiver& receiver : machine.receivers) {
      supplies.push_back(static_cast<int>(receiver.share));
      const Place from = machine.topology.PlaceOf(receiver.cpu).value_or(kAnywhere);
      std::vector<int>& row = costs.emplace_back();
      for (const Claim& claim : machine.claims) {
        row.push_back(machine.topology.Distance(from, claim.place));
      }
    }
    const double total = std::accumulate(supplies.begin(), supplies.end(), 0);
    const Deck deck = Deck::Deal(machine.topology, machine.receivers, machine.claims);
    EXPECT_NEAR(Cost(deck), CheapestTransport(supplies, demands, costs) / total, 1e-8);
  }
}

TEST(Deck, SaysTheRingOfEachStakeNearestFirst) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const Machine machine = RandomMachine(&random, 12);
    const Deck deck = Deck::Deal(machine.topology, machine.receivers, machine.claims);
    for (const Row& row : deck.rows()) {
      Ring last = 0;
      const Place from = machine.topology.PlaceOf(row.cpu).value_or(kAnywhere);
      for (const Stake& stake : row.stakes) {
        EXPECT_EQ(stake.ring,
                  machine.topology.Distance(from, machine.claims[stake.slot / 3].place));
        EXPECT_GE(stake.ring, last);
        last = stake.ring;
      }
    }
  }
}

// What the sequences give, over that of the shares by less than rounding can be.
TEST(Deck, DoesNotLoseASharesExactnessInTheSequences) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    const Machine machine = RandomMachine(&random, 12);
    const Deck deck = Deck::Deal(machine.topology, machine.receivers, machine.claims);
    std::map<Slot, double> given, bound;
    for (const Row& row : deck.rows()) {
      const double place = RowShare(row) / static_cast<double>(row.sequence.size());
      for (const Slot slot : row.sequence) given[slot] += place;
      for (const Stake& stake : row.stakes) bound[stake.slot] += place;
    }
    for (const auto& [slot, share] : Shares(deck)) EXPECT_NEAR(given[slot], share, bound[slot]);
  }
}

TEST(Deck, DoesNotStarveAWorkerHoweverFewCpusReceive) {
  const Topology topology = Synthetic("pack:4 l3:4 core:8 pu:2");
  std::mt19937 random(5);
  for (const int receivers : {1, 2, 3, 7, 16, 31, 64, 100, 255, 256}) {
    for (const Slot workers : {1, 2, 3, 5, 8, 32, 33, 100, 255, 256}) {
      std::vector<int> cpus = FirstNumbers(256);
      std::shuffle(cpus.begin(), cpus.end(), random);
      cpus.resize(static_cast<size_t>(receivers));
      std::vector<Claim> claims;
      for (Slot slot = 0; slot < workers; ++slot) {
        claims.push_back({slot, 1, static_cast<Place>(random() % topology.objects().size())});
      }
      std::map<Slot, double> dealt;
      const Deck deck = Deck::Deal(topology, EqualReceivers(cpus), claims);
      for (const Row& row : deck.rows()) {
        ASSERT_FALSE(row.sequence.empty());
        const double place = 1.0 / receivers / static_cast<double>(row.sequence.size());
        for (const Slot slot : row.sequence) dealt[slot] += place;
      }
      for (Slot slot = 0; slot < workers; ++slot) {
        EXPECT_NEAR(dealt[slot] * workers, 1, 0.015) << receivers << " x " << workers;
      }
    }
  }
}

TEST(Deck, LetsThreeWorkersOnOneCpuShareItEqually) {
  const Topology topology = Synthetic("pack:1 core:2 pu:2");
  const auto claims = Pinned(topology, {1, 1, 1});
  const Deck alone = Deck::Deal(topology, EqualReceivers({1}), claims);
  EXPECT_EQ(SlotsOf(alone.rows()[0]), "0 1 2 ");
  // And what comes from elsewhere.
  const Deck deck = Deck::Deal(topology, EqualReceivers({0, 1}), claims);
  for (const auto& [slot, share] : Shares(deck)) EXPECT_NEAR(share, 1 / 3.0, 1e-9) << slot;
  EXPECT_EQ(deck.rows()[1].stakes.size(), 3u);
  for (const Stake& stake : deck.rows()[1].stakes) EXPECT_NEAR(stake.share, 1 / 6.0, 1e-9);
}

TEST(Deck, KeepsEveryConnectionOnItsCpuWhereEachHasAWorker) {
  const Topology topology = Synthetic("pack:2 l3:1 core:2 pu:2");
  const Deck deck =
      Deck::Deal(topology, EqualReceivers(FirstNumbers(8)), Pinned(topology, FirstNumbers(8)));
  EXPECT_EQ(Cost(deck), 0);
  for (const Row& row : deck.rows()) EXPECT_EQ(SlotsOf(row), std::to_string(row.cpu) + " ");
}

TEST(Deck, DoesNotIdleWorkersWhereNoConnectionArrives) {
  const Topology topology = Synthetic("pack:2 l3:1 core:8 pu:2");
  const std::vector<int> receiving{0, 2, 4, 6, 8, 10, 12, 14};
  const Deck deck =
      Deck::Deal(topology, EqualReceivers(receiving), Pinned(topology, FirstNumbers(32)));
  for (const Row& row : deck.rows()) {
    ASSERT_EQ(row.stakes.size(), 4u);
    EXPECT_EQ(row.sequence.size(), 4u);
    EXPECT_EQ(row.stakes[0].slot, static_cast<Slot>(row.cpu));
    EXPECT_EQ(row.stakes[1].slot, static_cast<Slot>(row.cpu) + 1);
    EXPECT_EQ(row.stakes[2].ring, 4);
  }
}

TEST(Deck, TreatsWorkersOfWeightTwoTwiceAsWell) {
  const Topology topology = Synthetic("core:2 pu:1");
  const std::vector<Claim> claims{{0, 2, kAnywhere}, {1, 1, topology.PlaceOf(0).value()}};
  const std::map<Slot, double> shares =
      Shares(Deck::Deal(topology, EqualReceivers({0, 1}), claims));
  EXPECT_NEAR(shares.at(0), 2 / 3.0, 1e-9);
  EXPECT_NEAR(shares.at(1), 1 / 3.0, 1e-9);
}

TEST(Deck, DoesNotForgetAWorkerOfVerySmallWeight) {
  const std::vector<Claim> claims{{0, 100000, kAnywhere}, {1, 1, kAnywhere}};
  const Deck deck = Deck::Deal(Topology(), EqualReceivers({0}), claims);
  const auto& sequence = deck.rows()[0].sequence;
  EXPECT_EQ(std::count(sequence.begin(), sequence.end(), 1u), 1);
}

// Its rounding must not turn the small row over, let alone leave nothing of it.
TEST(Deck, KeepsTheRowOfACpuThatReceivesHardlyAnything) {
  const Topology topology = Synthetic("pack:1 core:3 pu:1");
  for (double share = 1; share > 1e-5; share /= 3) {
    const std::vector<Receiver> receivers{{0, 1}, {1, share}, {2, 1.0 / 7}};
    const Deck deck = Deck::Deal(topology, receivers, Pinned(topology, {0, 0, 1, 1, 1}));
    ASSERT_EQ(deck.rows().size(), 3u);
    const auto& sequence = deck.rows()[1].sequence;
    for (const Slot slot : {2, 3, 4}) {
      const auto places = std::count(sequence.begin(), sequence.end(), slot);
      EXPECT_GE(static_cast<double>(places), static_cast<double>(sequence.size()) / 3 / 4);
    }
  }
}

TEST(Deck, DoesNotDealToWhoIsOwedNothingNorFromWhoHasNothing) {
  const Topology topology = Synthetic("core:4 pu:1");
  const std::vector<Receiver> receivers{{0, 0}, {1, 2}, {2, -1}, {3, std::nan("")}};
  const std::vector<Claim> claims{{0, 0, kAnywhere}, {1, 1, kAnywhere}};
  const Deck deck = Deck::Deal(topology, receivers, claims);
  ASSERT_EQ(deck.rows().size(), 1u);
  EXPECT_EQ(deck.rows()[0].cpu, 1);
  EXPECT_EQ(SlotsOf(deck.rows()[0]), "1 ");
}

TEST(Deck, HasOneRowWhereNoReceivingCpuIsKnown) {
  const Topology topology = Synthetic("pack:2 core:2 pu:1");
  const Deck deck = Deck::Deal(topology, {}, Pinned(topology, {0, 3}));
  ASSERT_EQ(deck.rows().size(), 1u);
  EXPECT_EQ(deck.rows()[0].cpu, -1);
  EXPECT_EQ(SlotsOf(deck.rows()[0]), "0 1 ");
  for (const int cpu : {-1, 0, 3, 4, 100000}) EXPECT_EQ(deck.RowOf(cpu), 0u);
}

TEST(Deck, HasNoRowsWithoutWorkers) {
  EXPECT_TRUE(Deck::Deal(Topology(), EqualReceivers({0}), {}).rows().empty());
  EXPECT_EQ(Deck::Deal(Topology(), EqualReceivers({0}), {}), Deck());
}

TEST(Deck, FindsTheNearestRowForACpuThatReceivedNothingYet) {
  const Topology topology = Synthetic("pack:2 l3:2 core:2 pu:2");
  const Deck deck =
      Deck::Deal(topology, EqualReceivers({1, 4, 9}), Pinned(topology, FirstNumbers(16)));
  const std::vector<int> rows_cpu{1, 4, 9};
  const std::map<int, int> expected{{0, 1}, {1, 1}, {3, 1},  {4, 4}, {5, 4},
                                    {7, 4}, {8, 9}, {12, 9}, {15, 9}};
  for (const auto& [cpu, row] : expected) EXPECT_EQ(rows_cpu[deck.RowOf(cpu)], row) << cpu;
  for (const int cpu : {-1, 16, 1 << 20, INT32_MAX}) EXPECT_LT(deck.RowOf(cpu), 3u);
}

TEST(Deck, DoesNotPutAllCpusThatAreEquallyNearOnOneRow) {
  const Topology topology = Synthetic("pack:1 core:8 pu:1");
  const Deck deck = Deck::Deal(topology, EqualReceivers({0, 4}), Pinned(topology, FirstNumbers(8)));
  std::map<size_t, int> cpus;
  for (int cpu = 0; cpu < 8; ++cpu) ++cpus[deck.RowOf(cpu)];
  EXPECT_EQ(cpus, (std::map<size_t, int>{{0, 4}, {1, 4}}));
}

TEST(Deck, FindsTheRowOfACpuThatTheTopologyDoesNotHave) {
  const Topology topology = Synthetic("pack:1 core:2 pu:1");
  const Deck deck = Deck::Deal(topology, EqualReceivers({-1, 0, 7}), Pinned(topology, {0, 1}));
  ASSERT_EQ(deck.rows().size(), 3u);
  EXPECT_EQ(deck.RowOf(-1), 0u);
  EXPECT_EQ(deck.RowOf(0), 1u);
  EXPECT_EQ(deck.RowOf(7), 2u);
}

TEST(Deck, DoesNotDependOnTheOrderOfWhatItIsTold) {
  std::mt19937 random(6);
  for (int round = 0; round < 100; ++round) {
    Machine machine = RandomMachine(&random, 12);
    const Deck deck = Deck::Deal(machine.topology, machine.receivers, machine.claims);
    std::shuffle(machine.receivers.begin(), machine.receivers.end(), random);
    std::shuffle(machine.claims.begin(), machine.claims.end(), random);
    EXPECT_EQ(deck, Deck::Deal(machine.topology, machine.receivers, machine.claims));
  }
}

TEST(Deck, ChangesLittleWhenTheSharesChangeLittle) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Machine machine = RandomMachine(&random, 12);
    const Deck before = Deck::Deal(machine.topology, machine.receivers, machine.claims);
    for (Receiver& receiver : machine.receivers) {
      receiver.share *= 1 + (static_cast<double>(random() % 2001) - 1000) / 100000;
    }
    const Deck after = Deck::Deal(machine.topology, machine.receivers, machine.claims);
    EXPECT_LT(Moved(before, after), 0.05);
  }
}

}  // namespace
}  // namespace ringdeal
