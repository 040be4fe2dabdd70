#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "daemon/dealing/dealer.h"
#include "protocol/socket_pair.h"
#include "tests/unit/played_worker.h"

namespace ringdeal {
namespace {

constexpr uint64_t kNow = 1'000'000'000;
constexpr bool kOneSocket = true;

WorkerIdentity Able() {
  WorkerIdentity identity;
  identity.direct = true;
  return identity;
}

class DirectOrderTest : public testing::Test {
 protected:
  static DealerSettings Settings() {
    return {.policy = FindPolicy("least-loaded"),
            .rules = {},
            .busy_after_ns = 2'000'000,
            .recall_after_ns = 5'000'000,
            .stuck_after_ns = 1'000'000'000,
            .channel_depth = 128,
            .workers = 8,
            .may_be_direct = true};
  }

  explicit DirectOrderTest(const DealerSettings& settings = Settings()) : dealer_(settings) {}

  Slot Join(Process* process, WorkerIdentity identity = Able()) {
    identity.id = ++ids_;
    return dealer_.Add(process->Register(std::move(identity)), kNow).value();
  }

  // The only worker, told to accept by itself.
  Slot JoinAlone(Process* process) {
    const Slot slot = Join(process);
    process->Accepting();
    EXPECT_TRUE(dealer_.DecideDirect(kOneSocket));
    return slot;
  }

  Dealer::Outcome Deal() {
    Result<SocketPair> pair = MakeStreamPair();
    clients_.push_back(std::move(pair->first));
    Connection connection;
    connection.socket = std::move(pair->second);
    return dealer_.Deal(std::move(connection), kNow);
  }

  bool IsLeft() {
    const bool left = dealer_.LeaveToWorker();
    EXPECT_EQ(dealer_.Prepare(kNow).readiness == Dealer::Readiness::kLeave, left);
    return left;
  }

  static PageMode Mode(Process* process) { return process->page().orders.mode; }
  static void Acknowledge(Process* process) {
    process->page().signs.mode_seen = process->page().orders.mode.load();
  }

  Dealer dealer_;
  std::vector<UniqueFd> clients_;
  uint64_t ids_ = 0;
};

TEST_F(DirectOrderTest, ThatIsNotAcknowledgedLeavesNothingToTheWorker) {
  Process process;
  JoinAlone(&process);
  EXPECT_EQ(Mode(&process), PageMode::kDirect);
  EXPECT_FALSE(IsLeft());
  ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(process.Take(), FrameKind::kConnection);
  Acknowledge(&process);
  EXPECT_TRUE(IsLeft());
}

TEST_F(DirectOrderTest, WakesNobodyForNothing) {
  Process first, second;
  JoinAlone(&first);
  EXPECT_FALSE(dealer_.DecideDirect(kOneSocket)) << "it was given";
  Join(&second);
  EXPECT_FALSE(first.Take());
}

TEST_F(DirectOrderTest, EndsInTheMomentInWhichAnotherProcessJoins) {
  for (const bool observer : {false, true}) {
    Process first, second;
    const Slot slot = JoinAlone(&first);
    Acknowledge(&first);
    WorkerIdentity identity;
    identity.observer = observer;
    const Slot other = Join(&second, std::move(identity));
    EXPECT_EQ(Mode(&first), PageMode::kHandoff);
    EXPECT_FALSE(IsLeft()) << "though it has not acknowledged";
    EXPECT_FALSE(dealer_.DecideDirect(kOneSocket));
    for (const Slot each : {slot, other}) {
      dealer_.Detach(each);
      dealer_.Release(each);
    }
  }
}

TEST_F(DirectOrderTest, IsNotGivenAgainBeforeTheEndOfTheLastIsAcknowledged) {
  Process first, second;
  JoinAlone(&first);
  Acknowledge(&first);
  dealer_.Detach(Join(&second));
  EXPECT_FALSE(dealer_.DecideDirect(kOneSocket)) << "mode_seen still is that of the last order";
  Acknowledge(&first);
  EXPECT_TRUE(dealer_.DecideDirect(kOneSocket));
  EXPECT_FALSE(IsLeft());
}

TEST_F(DirectOrderTest, IsForNobodyWhoMayNot) {
  const auto is_given = [this](const WorkerIdentity& identity, auto prepare,
                               bool one_socket = kOneSocket) {
    Process process;
    const Slot slot = Join(&process, identity);
    process.Accepting();
    prepare(slot, &process.page());
    const bool given = dealer_.DecideDirect(one_socket);
    dealer_.Detach(slot);
    dealer_.Release(slot);
    return given;
  };
  const auto nothing = [](Slot, Page*) {};
  const WorkerIdentity able = Able();
  WorkerIdentity blocking = Able();
  blocking.one_at_a_time = true;
  EXPECT_TRUE(is_given(able, nothing));
  EXPECT_FALSE(is_given({}, nothing)) << "did not say that it can";
  EXPECT_FALSE(is_given(blocking, nothing));
  EXPECT_FALSE(is_given(able, nothing, false)) << "holds one of two sockets";
  EXPECT_FALSE(is_given(able, [](Slot, Page* page) {
    page->progress.style = AcceptStyle::kOneAtATime;
  })) << "became one that blocks";
  EXPECT_FALSE(is_given(able, [](Slot, Page* page) {
    page->progress.state = WorkerState::kObserver;
  })) << "only watches";
  EXPECT_FALSE(
      is_given(able, [](Slot, Page* page) { page->progress.state = WorkerState::kPaused; }));
  EXPECT_FALSE(is_given(able, [this](Slot slot, Page*) { dealer_.SetDraining(slot, true); }));
  EXPECT_FALSE(is_given(able, [this](Slot slot, Page*) { dealer_.Report(slot, {}); }))
      << "maps no page";
}

TEST_F(DirectOrderTest, EndsForOneThatIsDrained) {
  Process process;
  const Slot slot = JoinAlone(&process);
  Acknowledge(&process);
  dealer_.SetDraining(slot, true);
  EXPECT_EQ(Mode(&process), PageMode::kDraining);
  EXPECT_FALSE(IsLeft());
  Acknowledge(&process);
  dealer_.SetDraining(slot, false);
  EXPECT_TRUE(dealer_.DecideDirect(kOneSocket));
}

TEST_F(DirectOrderTest, EndsForOneThatComesToBlockInAccept) {
  Process process;
  JoinAlone(&process);
  Acknowledge(&process);
  process.page().progress.style = AcceptStyle::kOneAtATime;
  process.page().signs.mode_seen = PageMode::kHandoff;
  EXPECT_FALSE(IsLeft()) << "it went back by itself";
  EXPECT_TRUE(dealer_.DecideDirect(kOneSocket));
  EXPECT_EQ(Mode(&process), PageMode::kHandoff);
}

TEST_F(DirectOrderTest, EndsWhenTheListenerHasAnotherSocket) {
  Process process;
  JoinAlone(&process);
  Acknowledge(&process);
  EXPECT_TRUE(dealer_.DecideDirect(!kOneSocket));
  EXPECT_EQ(Mode(&process), PageMode::kHandoff);
  EXPECT_FALSE(IsLeft());
}

TEST_F(DirectOrderTest, AsksNothingMoreOfWhoFollowsIt) {
  Process process;
  JoinAlone(&process);
  process.page().orders.wants_ready = 1;
  Acknowledge(&process);
  EXPECT_TRUE(IsLeft());
  EXPECT_FALSE(process.Asked()) << "it would say so with every wait and close";
}

TEST_F(DirectOrderTest, EndsWithItsWorker) {
  Process process;
  const Slot slot = JoinAlone(&process);
  Acknowledge(&process);
  dealer_.Detach(slot);
  EXPECT_FALSE(IsLeft());
}

TEST_F(DirectOrderTest, WaitsForWhatIsKept) {
  Process process;
  Result<SocketPair> pair = MakeStreamPair();
  Connection kept;
  kept.socket = std::move(pair->second);
  dealer_.DealAgain(std::move(kept), {}, kNow);  // to whom there is nobody yet
  JoinAlone(&process);
  Acknowledge(&process);
  EXPECT_FALSE(dealer_.LeaveToWorker());
  EXPECT_NE(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kLeave);
  EXPECT_EQ(process.Take(), FrameKind::kConnection);
  EXPECT_TRUE(IsLeft());
}

TEST_F(DirectOrderTest, CountsWhatItAcceptedItselfForTheNextPick) {
  Process first, second;
  JoinAlone(&first);
  Acknowledge(&first);
  first.page().progress.direct = 8;
  Join(&second);
  second.Accepting();
  for (int i = 0; i < 8; ++i) ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(second.Take(), FrameKind::kConnection);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(second.Take(), FrameKind::kConnection);
  EXPECT_FALSE(first.Take());
}

class DirectOrderWithALimitTest : public DirectOrderTest {
 protected:
  DirectOrderWithALimitTest() : DirectOrderTest(With()) {}
  static DealerSettings With() {
    DealerSettings settings = Settings();
    settings.may_be_direct = false;
    return settings;
  }
};

TEST_F(DirectOrderWithALimitTest, IsNotGiven) {
  Process process;
  Join(&process);
  process.Accepting();
  EXPECT_FALSE(dealer_.DecideDirect(kOneSocket));
  EXPECT_EQ(Mode(&process), PageMode::kHandoff);
}

}  // namespace
}  // namespace ringdeal
