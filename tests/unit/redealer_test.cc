#include "daemon/workers/redealer.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/operating/monotonic_clock.h"

namespace ringdeal {
namespace {

constexpr char kMachine[] = "synthetic:pack:2 core:4 pu:1";

// A listener of the default policy whose workers are pages that the test writes.
class Redealt {
 public:
  Redealt() : redealer_(&loop_, ReadMachine(), false, 10'000'000'000) {
    ListenerConfig config;
    config.name = "web";
    listener_ = std::make_shared<Listener>(config, true, 0, Limits());
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    EXPECT_TRUE(listener_->AddSocket(std::move(socket), 0));
  }

  Slot Join(std::vector<int> cpus) {
    const Result<UniqueFd> memory = CreatePageMemory();
    pages_.push_back(std::move(*MapNewPage(memory->get())));
    pages_.back()->progress.state = WorkerState::kWorker;
    Result<Channel> channel = Channel::Create();
    const WorkerIdentity identity{.id = pages_.size(), .cpus = std::move(cpus)};
    return *listener_->dealer().Add(
        std::make_unique<Worker>(identity, std::move(*MapNewPage(memory->get())),
                                 std::move(*channel)),
        1);
  }
  // So many connections that the kernel received there.
  void Receive(ReceivingCpu cpu, int count) {
    for (int i = 0; i < count; ++i) {
      Connection connection;
      connection.socket = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      connection.cpu = cpu;
      EXPECT_EQ(listener_->dealer().Deal(std::move(connection), 1), Dealer::Outcome::kDelivered);
    }
  }
  uint64_t decks() { return Shown().decks_dealt; }
  Page& page(Slot slot) { return *pages_[slot].get(); }
  void Look(uint64_t now_ns) { redealer_.Look(listener_, now_ns); }
  ListenerSnapshot Shown() {
    ListenerSnapshot snapshot;
    listener_->dealer().Show(&snapshot, 1);
    return snapshot;
  }
  std::set<Slot> SlotsInDeck() {
    std::set<Slot> slots;
    for (const RowSnapshot& row : Shown().deck) {
      for (const auto& stake : row.stakes) slots.insert(stake.slot);
    }
    return slots;
  }
  EventLoop& loop() { return loop_; }

 private:
  static std::shared_ptr<const Topology> ReadMachine() {
    return std::make_shared<const Topology>(std::move(*Topology::Read(kMachine)));
  }

  EventLoop loop_;
  std::shared_ptr<Listener> listener_;
  std::vector<MappedPage> pages_;
  Redealer redealer_;
};

TEST(Redealer, DoesNotDealForEachOfManyThatJoinAtOnce) {
  Redealt redealt;
  const uint64_t now_ns = MonotonicNs();
  for (size_t i = 0; i < 100; ++i) {
    redealt.Join({static_cast<int>(i % 8)});
    redealt.Look(now_ns + i);
  }
  EXPECT_LE(redealt.Shown().decks_dealt, Redealer::kFewWorkers + 1);
  redealt.Look(now_ns + Redealer::RestNs(100));
  EXPECT_EQ(redealt.SlotsInDeck().size(), 100u);
}

TEST(Redealer, DealsAtOnceToFewThatJoinAtOnce) {
  Redealt redealt;
  const uint64_t now_ns = MonotonicNs();
  for (size_t joined = 1; joined <= Redealer::kFewWorkers; ++joined) {
    redealt.Join({0});
    redealt.Look(now_ns);
    EXPECT_EQ(redealt.SlotsInDeck().size(), joined);
  }
}

TEST(Redealer, DoesNotDealAsOftenAsAWorkerSaysThatItIsNone) {
  Redealt redealt;
  uint64_t now_ns = MonotonicNs();
  for (int i = 0; i < 100; ++i) redealt.Join({i % 8});
  for (int i = 0; i < 100; ++i) {
    redealt.page(0).progress.state = i % 2 == 0 ? WorkerState::kObserver : WorkerState::kWorker;
    redealt.Look(now_ns += Redealer::RestNs(99) / 10);
  }
  EXPECT_LE(redealt.Shown().decks_dealt, 10u);
}

TEST(Redealer, DoesNotDealForADriftMoreOftenThanEvery100Ms) {
  Redealt redealt;
  const uint64_t now_ns = MonotonicNs();
  redealt.Join({0});
  redealt.Join({7});
  redealt.Look(now_ns);
  EXPECT_EQ(redealt.decks(), 1u);
  redealt.Receive(0, 200);  // of channels that hold 128 each
  for (uint64_t ms = 1; ms < 100; ++ms) redealt.Look(now_ns + ms * 1'000'000);
  EXPECT_EQ(redealt.decks(), 1u);
  redealt.Look(now_ns + 100'000'000);
  EXPECT_EQ(redealt.decks(), 2u);
}

TEST(Redealer, SwapsNothingWhereNothingChanged) {
  Redealt redealt;
  const uint64_t now_ns = MonotonicNs();
  redealt.Join({0});
  redealt.Join({7});
  redealt.Receive(0, 20);
  redealt.Receive(7, 20);
  for (uint64_t second = 0; second < 60; ++second) {
    redealt.Look(now_ns + second * 1'000'000'000);
    EXPECT_EQ(redealt.decks(), 1u) << "after " << second << " s";
  }
}

// Nobody else looks again where nobody comes and no connection does.
TEST(Redealer, LeavesNobodyOutThatJoinedDuringARest) {
  Redealt redealt;
  const size_t before = Redealer::kFewWorkers + 1;
  for (size_t i = 0; i < before; ++i) redealt.Join({0});
  const uint64_t now_ns = MonotonicNs();
  redealt.Look(now_ns);
  redealt.Join({1});
  redealt.Look(now_ns);
  EXPECT_EQ(redealt.SlotsInDeck().size(), before);
  int ticks = 0;
  std::unique_ptr<EventLoop::Watch> tick;
  tick = redealt.loop().MakeTimer([&] {
    if (redealt.SlotsInDeck().size() > before || ++ticks == 10'000) return redealt.loop().Stop();
    tick->Arm(std::chrono::milliseconds(1));
  });
  tick->Arm(std::chrono::milliseconds(1));
  redealt.loop().Run();
  EXPECT_EQ(redealt.SlotsInDeck().size(), before + 1);
}

}  // namespace
}  // namespace ringdeal
