#include "daemon/dealing/dealer.h"

#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/dealing/recall_thread.h"
#include "daemon/operating/failpoint.h"
#include "protocol/descriptor_passing.h"
#include "protocol/handoff_frame.h"
#include "protocol/socket_pair.h"
#include "tests/unit/played_worker.h"

namespace ringdeal {
namespace {

constexpr uint64_t kNow = 1'000'000'000;
constexpr uint64_t kMs = 1'000'000;

WorkerIdentity Blocking(WorkerIdentity identity = {}) {
  identity.one_at_a_time = true;
  return identity;
}

WorkerIdentity Forked(WorkerIdentity identity = {}) {
  identity.forked = true;
  return identity;
}

WorkerIdentity Weighing(uint32_t weight) {
  WorkerIdentity identity;
  identity.weight = weight;
  return identity;
}

class DealerTest : public testing::Test {
 protected:
  Slot Join(Process* process, WorkerIdentity identity = {}) {
    identity.id = ++ids_;
    return dealer_.Add(process->Register(std::move(identity)), kNow).value();
  }

  Connection OneMore() {
    Result<SocketPair> pair = MakeStreamPair();
    clients_.push_back(std::move(pair->first));
    Connection connection;
    connection.socket = std::move(pair->second);
    return connection;
  }
  Dealer::Outcome Deal(uint64_t now_ns = kNow) { return dealer_.Deal(OneMore(), now_ns); }

  WorkerSnapshot Show(Slot slot) {
    ListenerSnapshot snapshot;
    dealer_.Show(&snapshot, kNow);
    for (const WorkerSnapshot& worker : snapshot.workers) {
      if (worker.slot == slot) return worker;
    }
    ADD_FAILURE() << "no worker in slot " << slot;
    return {};
  }

  static DealerSettings Settings() {
    return {.policy = FindPolicy("least-loaded"),
            .busy_after_ns = 2 * kMs,
            .recall_after_ns = 5 * kMs,
            .stuck_after_ns = 100 * kMs,
            .channel_depth = 128,
            .workers = 8};
  }

  explicit DealerTest(const DealerSettings& settings = Settings()) : dealer_(settings) {}

  Dealer dealer_;
  std::vector<UniqueFd> clients_;
  uint64_t ids_ = 0;
};

TEST_F(DealerTest, DealsABurstOfThirtyTwoSixteenAndSixteen) {
  Process first, second;
  const Slot a = Join(&first), b = Join(&second);
  first.Accepting();
  second.Accepting();
  for (int i = 0; i < 32; ++i) ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(Show(a).handed, 16u);
  EXPECT_EQ(Show(b).handed, 16u);
  EXPECT_EQ(Show(a).pending, 16u);
}

TEST_F(DealerTest, DoesNotShowADatagramBeforeItIsCounted) {
  Process process;
  const Slot slot = Join(&process);
  process.Accepting();
  // The worker takes and closes the connection before the sender goes on.
  failpoint::SetHandler("sent", [&] {
    EXPECT_EQ(process.Take(), FrameKind::kConnection);
    process.Close();
  });
  ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  failpoint::SetHandler("sent", nullptr);
  EXPECT_EQ(Show(slot).load, 0u);
  ListenerSnapshot snapshot;
  dealer_.Show(&snapshot, kNow);
  EXPECT_EQ(snapshot.counters_clamped, 0u) << "taken was seen above handed";
}

TEST_F(DealerTest, DoesNotGiveToAWorkerThatStarts) {
  Process starting, ready;
  const Slot a = Join(&starting), b = Join(&ready);
  ready.Accepting();
  for (int i = 0; i < 8; ++i) ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(Show(a).handed, 0u);
  EXPECT_EQ(Show(b).handed, 8u);
}

TEST_F(DealerTest, DoesNotGiveToAWorkerInALongPass) {
  Process busy, idle;
  const Slot a = Join(&busy), b = Join(&idle);
  busy.Accepting();
  idle.Accepting();
  busy.page().progress.pass_start = kNow - 60 * kMs;
  for (int i = 0; i < 8; ++i) ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(Show(a).handed, 0u);
  EXPECT_EQ(Show(b).handed, 8u);
}

TEST_F(DealerTest, SaysWhatPartOfItsWeightIsFree) {
  const auto free_percent = [this] {
    ListenerSnapshot snapshot;
    dealer_.Show(&snapshot, kNow);
    return snapshot.free_percent;
  };
  EXPECT_EQ(free_percent(), 0);
  Process first, second;
  WorkerIdentity heavy;
  heavy.weight = 3;
  const Slot slot = Join(&first, heavy);
  Join(&second);
  first.Accepting();
  second.Accepting();
  EXPECT_EQ(free_percent(), 100);
  second.page().progress.pass_start = kNow - 3 * kMs;
  EXPECT_EQ(free_percent(), 100) << "a pass of some milliseconds is none of a slow worker";
  second.page().progress.pass_start = kNow - 60 * kMs;
  EXPECT_EQ(free_percent(), 75);
  dealer_.SetDraining(slot, true);
  EXPECT_EQ(free_percent(), 0);
  dealer_.SetDraining(slot, false);
  EXPECT_EQ(free_percent(), 75);
}

TEST_F(DealerTest, CountsALongPassOnceHoweverOftenItIsSeen) {
  Process process, other;
  Join(&process);
  Join(&other);
  process.Accepting();
  other.Accepting();
  const auto counted = [this](uint64_t now_ns) {
    ListenerSnapshot snapshot;
    dealer_.Show(&snapshot, now_ns);
    return snapshot.long_passes;
  };
  process.page().progress.pass_start = kNow;
  EXPECT_EQ(counted(kNow + kMs), 0u);
  EXPECT_EQ(counted(kNow + 60 * kMs), 1u);
  EXPECT_EQ(counted(kNow + 70 * kMs), 1u);
  process.page().progress.pass_start = kNow + 80 * kMs;
  EXPECT_EQ(counted(kNow + 81 * kMs), 1u);
  EXPECT_EQ(counted(kNow + 140 * kMs), 2u);
}

TEST_F(DealerTest, DoesNotLeaveASpreadUnevenForAPassOfSomeMilliseconds) {
  Process slow, quick;
  const Slot a = Join(&slow), b = Join(&quick);
  slow.Accepting();
  quick.Accepting();
  slow.page().progress.pass_start = kNow - 3 * kMs;
  ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(Show(b).handed, 1u) << "a tie is lost by the one in a long pass";
  for (int i = 1; i < 32; ++i) ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(Show(a).handed, 16u);
  EXPECT_EQ(Show(b).handed, 16u);
}

TEST_F(DealerTest, DoesNotHoldWhileOnlyBusyWorkersAreLeft) {
  Process busy;
  const Slot slot = Join(&busy);
  busy.Accepting();
  busy.page().progress.pass_start = kNow - 60 * kMs;
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kReady);
  EXPECT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(Show(slot).handed, 1u);
}

TEST_F(DealerTest, DoesNotLoseAWakeUpBetweenAskingAndLooking) {
  Process process;
  Join(&process);
  // The worker becomes eligible right after it was asked, and so does not see that it was.
  failpoint::SetHandler("hold-asked", [&] { process.Accepting(); });
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kReady);
  failpoint::SetHandler("hold-asked", nullptr);
  EXPECT_FALSE(process.Asked()) << "nobody holds any more";
}

TEST_F(DealerTest, AsksWhoCouldEndAHold) {
  Process process, late;
  Join(&process);
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kHold);
  EXPECT_TRUE(process.Asked());
  Join(&late);
  EXPECT_TRUE(late.Asked()) << "a worker that joins during a hold must poke as well";
}

TEST_F(DealerTest, KeepsWhatNobodyCanTakeAndDealsItFirst) {
  Process process;
  const Slot slot = Join(&process);
  EXPECT_EQ(Deal(), Dealer::Outcome::kKept);
  EXPECT_EQ(Deal(), Dealer::Outcome::kKept);
  EXPECT_EQ(dealer_.kept(), 2u);
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kHold);
  process.Accepting();
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kReady);
  EXPECT_EQ(dealer_.kept(), 0u);
  EXPECT_EQ(Show(slot).handed, 2u);
}

TEST_F(DealerTest, GivesABlockingProgramOneAtATime) {
  Process process;
  const Slot slot = Join(&process, Blocking());
  process.Accepting();
  process.page().progress.style = AcceptStyle::kOneAtATime;
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kHold) << "no thread waits";
  process.page().progress.waiting = 1;
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kReady);
  EXPECT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kHold) << "one is on its way";
  EXPECT_EQ(Show(slot).handed, 1u);
}

TEST_F(DealerTest, GoesToTheNextWorkerWhenAChannelIsFull) {
  Process never_reads, reads;
  const Slot a = Join(&never_reads, Weighing(1000)), b = Join(&reads);
  never_reads.Accepting();
  reads.Accepting();
  int delivered = 0;
  // Far more than a socket's buffer takes, and one in a thousand would be the other's.
  while (Show(b).handed == 0 && delivered < 200) {
    ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
    ++delivered;
  }
  EXPECT_EQ(Show(a).pending, 128u) << "the depth of a channel is bounded";
  EXPECT_EQ(Show(b).handed, 1u);
}

TEST_F(DealerTest, GoesToTheNextWorkerWhenOneShutItsChannel) {
  Process gone, there;
  const Slot a = Join(&gone), b = Join(&there);
  gone.Accepting();
  there.Accepting();
  shutdown(gone.channel()->worker_end(), SHUT_RD);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(Show(b).handed, 4u);
  EXPECT_EQ(Show(a).pending, 0u);
  EXPECT_EQ(dealer_.TakeGone(), std::vector<Slot>{a});
}

TEST_F(DealerTest, SendsNothingAfterAWorkerWasDetached) {
  Process leaving, staying;
  const Slot a = Join(&leaving), b = Join(&staying);
  leaving.Accepting();
  staying.Accepting();
  for (int i = 0; i < 32; ++i) ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  const std::unique_ptr<Worker> left = dealer_.Detach(a);

  RecallThread recall;
  std::atomic<bool> done{false};
  std::atomic<size_t> most_in_hand{0};
  recall.Empty(
      left->channel(),
      [&](Connection connection) {
        dealer_.DealAgain(std::move(connection),
                          {.channel = nullptr, .slot = a, .worker_id = left->identity().id}, kNow);
        most_in_hand = std::max(most_in_hand.load(), dealer_.kept());
      },
      [&] { done = true; });
  while (!done) std::this_thread::yield();
  EXPECT_EQ(most_in_hand, 0u) << "each is passed on before the next is taken";
  EXPECT_EQ(Show(b).handed, 32u);
  EXPECT_FALSE(leaving.Take()) << "the channel of one that left must be empty";
}

TEST_F(DealerTest, DoesNotSendWhatItTookBackIntoTheChannelThatItEmpties) {
  Process alone;
  const Slot slot = Join(&alone);
  alone.Accepting();
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  for (size_t i = 1; i <= 3; ++i) {
    Result<std::optional<Connection>> found = alone.channel()->TakeBack();
    ASSERT_TRUE(found && *found);
    dealer_.DealAgain(std::move(**found), {.channel = nullptr, .slot = slot, .worker_id = ids_},
                      kNow);
    EXPECT_EQ(dealer_.kept(), i);
  }
  EXPECT_FALSE(alone.Take());
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kReady);
  EXPECT_EQ(Show(slot).pending, 3u);
}

TEST_F(DealerTest, DoesNotPassWhatItTookBackBeforeWhatIsKeptAlready) {
  Process late;
  ASSERT_EQ(Deal(), Dealer::Outcome::kKept);
  const Slot slot = Join(&late);
  late.Accepting();
  dealer_.DealAgain(OneMore(), {.channel = nullptr, .slot = 7, .worker_id = 0}, kNow);
  EXPECT_EQ(dealer_.kept(), 2u);
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kReady);
  EXPECT_EQ(Show(slot).handed, 2u);
}

TEST_F(DealerTest, KeepsASlotUntilItsChannelIsEmpty) {
  Process first, second;
  EXPECT_EQ(Join(&first), 0u);
  dealer_.Detach(0);
  EXPECT_EQ(Join(&second), 1u);
  dealer_.Release(0);
  EXPECT_EQ(Join(&first), 0u);
}

TEST_F(DealerTest, RefusesAWorkerBeyondTheLimit) {
  std::vector<Process> processes(9);
  for (int i = 0; i < 8; ++i) Join(&processes[i]);
  EXPECT_FALSE(dealer_.Add(processes[8].Register({}), kNow));
}

TEST_F(DealerTest, GivesNothingToADrainingWorker) {
  Process draining, other;
  const Slot a = Join(&draining), b = Join(&other);
  draining.Accepting();
  other.Accepting();
  dealer_.SetDraining(a, true);
  EXPECT_EQ(draining.page().orders.mode, PageMode::kDraining);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(Show(b).handed, 4u);
  dealer_.SetDraining(a, false);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(Show(a).handed, 4u);
}

TEST_F(DealerTest, DealsToAWorkerThatReportsInsteadOfMappingAPage) {
  Process process;
  const Slot slot = Join(&process);
  EXPECT_EQ(Deal(), Dealer::Outcome::kKept);
  dealer_.Report(slot, {});
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kReady);
  dealer_.Report(slot, {.active = 1, .pending = 0, .taken = 1});
  EXPECT_EQ(Show(slot).load, 1u);
  EXPECT_EQ(Show(slot).pending, 0u);
}

TEST_F(DealerTest, DoesNotBelieveAReportOfMoreThanWasHanded) {
  Process process;
  const Slot slot = Join(&process);
  dealer_.Report(slot, {.active = 1'000'000, .pending = 0, .taken = 1'000'000});
  EXPECT_EQ(Show(slot).load, 0u);
  ListenerSnapshot snapshot;
  dealer_.Show(&snapshot, kNow);
  EXPECT_GE(snapshot.counters_clamped, 1u);
}

TEST_F(DealerTest, DoesNotCountForASuccessorInTheSameSlot) {
  Process first, second;
  const Slot slot = Join(&first);
  first.Accepting();
  ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  dealer_.Detach(slot);
  dealer_.Release(slot);
  ASSERT_EQ(Join(&second), slot);
  second.Accepting();
  dealer_.DealAgain(OneMore(), {.channel = nullptr, .slot = slot, .worker_id = 1},
                    kNow);  // of the first, late
  EXPECT_EQ(Show(slot).recalled, 0u);
  EXPECT_EQ(Show(slot).handed, 1u) << "as any other that is at hand";
}

class ObserverTest : public DealerTest {
 protected:
  Slot JoinObserver(Process* process, WorkerIdentity identity = {}) {
    identity.observer = true;
    const Slot slot = Join(process, identity);
    process->page().progress.state = WorkerState::kObserver;
    process->page().progress.waiting = 1;
    return slot;
  }

  // The observer wakes, does not accept, and waits again.
  void EndPass(Process* process) { ++process->page().signs.passes; }
};

TEST_F(ObserverTest, IsNotDealtToButRungWhenAConnectionWaits) {
  Process observer, worker;
  JoinObserver(&observer);
  Join(&worker);
  worker.Accepting();
  const auto preparation = dealer_.Prepare(kNow);
  EXPECT_EQ(preparation.readiness, Dealer::Readiness::kAwait);
  EXPECT_EQ(preparation.until_ns, kNow + 50 * kMs);
  EXPECT_EQ(observer.Take(), FrameKind::kDoorbell);
  EXPECT_FALSE(observer.Take()) << "one bell at most";
}

TEST_F(ObserverTest, SharesTheFirstBurstOnceItAccepted) {
  Process observer, worker;
  const Slot a = JoinObserver(&observer), b = Join(&worker);
  worker.Accepting();
  dealer_.Prepare(kNow);
  observer.Accepting();
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kReady);
  EXPECT_FALSE(observer.Asked());
  for (int i = 0; i < 32; ++i) ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(Show(a).handed, 16u);
  EXPECT_EQ(Show(b).handed, 16u);
}

TEST_F(ObserverTest, IsNotAwaitedForEver) {
  Process observer, worker;
  JoinObserver(&observer);
  Join(&worker);
  worker.Accepting();
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kAwait);
  EXPECT_EQ(dealer_.Prepare(kNow + 50 * kMs).readiness, Dealer::Readiness::kReady);
  EXPECT_EQ(dealer_.Prepare(kNow + 51 * kMs).readiness, Dealer::Readiness::kReady) << "once only";
}

TEST_F(ObserverTest, KeepsItsBellIfItWasKeptFromRunningForLonger) {
  Process observer, worker;
  JoinObserver(&observer);
  Join(&worker);
  worker.Accepting();
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kAwait);
  EXPECT_EQ(dealer_.Prepare(kNow + 50 * kMs).readiness, Dealer::Readiness::kReady);
  EXPECT_TRUE(dealer_.TakeUnansweredBells().empty()) << "nothing else would ever promote it";
  EndPass(&observer);
  EXPECT_EQ(dealer_.Prepare(kNow + 60 * kMs).readiness, Dealer::Readiness::kReady);
  EXPECT_EQ(dealer_.TakeUnansweredBells().size(), 1u) << "it ran, and did not accept";
}

TEST_F(ObserverTest, DeclinesByAPassWithoutAnAccept) {
  Process observer, worker;
  JoinObserver(&observer);
  Join(&worker);
  worker.Accepting();
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kAwait);
  EndPass(&observer);
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kReady);
}

TEST_F(ObserverTest, IsNotTakenToDeclineByThePassThatWasUnderWay) {
  Process observer, worker;
  JoinObserver(&observer);
  observer.page().progress.pass_start = kNow;
  Join(&worker);
  worker.Accepting();
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kAwait);
  EndPass(&observer);
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kAwait);
  EndPass(&observer);
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kReady);
}

TEST_F(ObserverTest, ThatForkedIsRungBeforeTheFirstClient) {
  Process child;
  JoinObserver(&child, Forked());
  EXPECT_EQ(child.Take(), FrameKind::kDoorbell);
}

TEST_F(ObserverTest, ThatBlocksInAcceptIsRungByNoRegistration) {
  Process child;
  JoinObserver(&child, Blocking(Forked()));
  EXPECT_FALSE(child.Take());
}

TEST_F(ObserverTest, ThatCameForTheBellAndBlocksGetsTheNextConnection) {
  Process observer, worker;
  const Slot a = JoinObserver(&observer);
  Join(&worker);
  worker.Accepting();
  observer.page().progress.style = AcceptStyle::kOneAtATime;
  dealer_.Prepare(kNow);
  observer.Take();
  observer.page().progress.waiting = 0;
  observer.Accepting();
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kAwait) << "on its way to accept";
  observer.page().progress.waiting = 1;
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kReady);
  ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(Show(a).handed, 1u);
}

TEST_F(ObserverTest, ThatDeclinedIsRungAgainWhenAllElseIsLacking) {
  Process master;
  JoinObserver(&master);
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kAwait);
  EXPECT_EQ(master.Take(), FrameKind::kDoorbell);
  EndPass(&master);
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kHold);
  EXPECT_EQ(master.Take(), FrameKind::kDoorbell);
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kHold);
  EXPECT_FALSE(master.Take()) << "once a hold";
}

TEST_F(ObserverTest, ThatAcceptsAfterAllKeepsWhatItIsGiven) {
  Process late;
  const Slot slot = JoinObserver(&late);
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kAwait);
  EXPECT_EQ(dealer_.Prepare(kNow + 50 * kMs).readiness, Dealer::Readiness::kHold);
  (void)dealer_.TakeUnansweredBells();
  late.Accepting();
  EXPECT_EQ(dealer_.Prepare(kNow + 51 * kMs).readiness, Dealer::Readiness::kReady);
  EXPECT_TRUE(dealer_.TakeUnansweredBells().empty()) << "its channel may hold connections now";
  ASSERT_EQ(Deal(kNow + 51 * kMs), Dealer::Outcome::kDelivered);
  EXPECT_EQ(Show(slot).pending, 1u);
}

TEST_F(DealerTest, DoesNotTakeTheNextInASlotForTheOneThatWasGone) {
  Process gone;
  const Slot slot = Join(&gone);
  gone.Accepting();
  shutdown(gone.channel()->worker_end(), SHUT_RDWR);
  EXPECT_EQ(Deal(), Dealer::Outcome::kKept);
  EXPECT_NE(dealer_.Detach(slot), nullptr);
  dealer_.Release(slot);
  Process next;
  EXPECT_EQ(Join(&next), slot);
  EXPECT_TRUE(dealer_.TakeGone().empty());
}

// Workers that do not come for what was handed to them.
class RecallTest : public DealerTest {
 protected:
  RecallTest() {
    for (Process* process : {&first_, &second_}) {
      slots_.push_back(Join(process));
      process->Accepting();
      process->page().progress.waiting = 1;
    }
    dealer_.BeginWatchOfUntaken();
  }

  // What the recaller does, at this time; returns how many connections it found.
  size_t Recall(uint64_t now_ns) {
    size_t found = 0;
    for (const auto& [each, pid, unless_runnable, waited_ns] :
         dealer_.TakeOverdue(now_ns, false).workers) {
      while (!(unless_runnable && runnable_)) {
        Result<std::optional<Connection>> connection = each.channel->TakeBack();
        if (!connection || !*connection) break;
        ++found;
        dealer_.DealAgain(std::move(**connection), each, now_ns);
      }
      dealer_.EndRecall(each.slot, each.worker_id, now_ns);
    }
    if (found == 0) return 0;
    EXPECT_EQ(dealer_.Prepare(now_ns).readiness, Dealer::Readiness::kReady);
    return found;
  }

  // Deals one; which of the two got it is by turns.
  Process* DealOne(uint64_t now_ns = kNow) {
    const uint64_t before = Show(slots_[0]).handed;
    EXPECT_EQ(Deal(now_ns), Dealer::Outcome::kDelivered);
    return Show(slots_[0]).handed > before ? &first_ : &second_;
  }
  Process* OtherThan(Process* process) { return process == &first_ ? &second_ : &first_; }
  WorkerSnapshot ShowOf(Process* process) { return Show(slots_[process == &first_ ? 0 : 1]); }
  static void BeginPass(Process* process, uint64_t at_ns) {
    process->page().progress.waiting = 0;
    process->page().progress.pass_start = at_ns;
  }

  Process first_, second_;
  bool runnable_ = false;  // what the kernel says of their processes
  std::vector<Slot> slots_;
};

TEST_F(RecallTest, DoesNotLeaveAConnectionWithAStoppedWorker) {
  Process* stopped = DealOne();
  Process* other = OtherThan(stopped);
  EXPECT_EQ(Recall(kNow + 4 * kMs), 0u) << "it may still come";
  EXPECT_EQ(Recall(kNow + 5 * kMs), 1u);
  EXPECT_EQ(other->Take(), FrameKind::kConnection);
  EXPECT_EQ(ShowOf(stopped).state, "suspect");
  EXPECT_EQ(ShowOf(stopped).pending, 0u);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(DealOne(kNow + 6 * kMs), other) << "idle as the other looks";
}

TEST_F(RecallTest, DoesNotTakeForTakenWhatWaitsInAChannel) {
  EXPECT_FALSE(dealer_.HasUntaken(kNow));
  Process* process = DealOne();
  EXPECT_TRUE(dealer_.HasUntaken(kNow));
  process->Take();
  EXPECT_FALSE(dealer_.HasUntaken(kNow));
  DealOne();
  for (const Slot slot : slots_) (void)dealer_.Detach(slot);
  EXPECT_FALSE(dealer_.HasUntaken(kNow)) << "what one that left had is taken back";
}

TEST_F(RecallTest, DoesNotLeaveAConnectionBehindALongPass) {
  Process* busy = DealOne();
  EXPECT_EQ(busy->Take(), FrameKind::kConnection);
  BeginPass(busy, kNow);
  Process* other = OtherThan(busy);
  while (DealOne(kNow + kMs) != busy) other->Take();
  EXPECT_EQ(Recall(kNow + 7 * kMs), 1u);
  while (other->Take()) {
  }
  EXPECT_EQ(ShowOf(busy).pending, 0u);
  EXPECT_EQ(ShowOf(other).pending, 0u);
  ListenerSnapshot snapshot;
  dealer_.Show(&snapshot, kNow);
  EXPECT_EQ(snapshot.recalls["overdue"], 1u);
  EXPECT_EQ(snapshot.recalls["left"], 0u);
}

TEST_F(RecallTest, DoesNotMakeASpreadUnevenForSomeMillisecondsOfNoLife) {
  for (int i = 0; i < 32; ++i) DealOne();
  while (second_.Take()) {
  }
  for (uint64_t ms = 1; ms < 40; ms += 5) EXPECT_EQ(Recall(kNow + ms * kMs), 0u);
  runnable_ = true;
  for (uint64_t ms = 40; ms < 400; ms += 5) EXPECT_EQ(Recall(kNow + ms * kMs), 0u);
  runnable_ = false;
  EXPECT_EQ(Recall(kNow + 41 * kMs), 16u) << "this one does not come any more";
}

TEST_F(RecallTest, DoesNotMoveAConnectionFromOneStuckWorkerToAnother) {
  DealOne();
  DealOne();
  EXPECT_EQ(Recall(kNow + 1000 * kMs), 0u);
  EXPECT_EQ(Show(slots_[0]).state, "worker");
}

TEST_F(RecallTest, DoesNotOverlookAWorkerThatBecameFreeMeanwhile) {
  second_.page().progress.state = WorkerState::kPaused;
  EXPECT_EQ(DealOne(), &first_);
  second_.page().progress.state = WorkerState::kWorker;
  EXPECT_EQ(Recall(kNow + 5 * kMs), 1u);
}

TEST_F(RecallTest, DoesNotSuspectAWorkerThatTookAllMeanwhile) {
  Process* slow = DealOne();
  const Dealer::Overdue overdue = dealer_.TakeOverdue(kNow + 5 * kMs, false);
  ASSERT_EQ(overdue.workers.size(), 1u);
  EXPECT_EQ(slow->Take(), FrameKind::kConnection);
  dealer_.EndRecall(overdue.workers[0].what.slot, overdue.workers[0].what.worker_id,
                    kNow + 6 * kMs);
  EXPECT_EQ(ShowOf(slow).state, "worker");
  EXPECT_EQ(slow->Take(), std::nullopt) << "no bell either";
}

TEST_F(RecallTest, DoesNotPassOverASuspectThatShowsLife) {
  Process* stopped = DealOne();
  EXPECT_EQ(Recall(kNow + 5 * kMs), 1u);
  EXPECT_EQ(stopped->Take(), FrameKind::kDoorbell);
  EXPECT_EQ(DealOne(kNow + 6 * kMs), stopped);
  EXPECT_EQ(ShowOf(stopped).state, "worker");
}

TEST_F(RecallTest, DoesNotLetAWorkerPokeForEverThatWasOnceASuspect) {
  Process* stopped = DealOne();
  EXPECT_EQ(Recall(kNow + 5 * kMs), 1u);
  EXPECT_EQ(stopped->page().orders.wants_ready, 1u);
  EXPECT_EQ(stopped->Take(), FrameKind::kDoorbell);
  EXPECT_EQ(DealOne(kNow + 6 * kMs), stopped);
  EXPECT_EQ(stopped->page().orders.wants_ready, 0u);
}

TEST_F(RecallTest, DoesNotTakeBackTheWishOfAHoldFromASuspectThatShowsLife) {
  Process* stopped = DealOne();
  EXPECT_EQ(Recall(kNow + 5 * kMs), 1u);
  Process* other = OtherThan(stopped);
  for (Process* each : {stopped, other}) {
    each->page().progress.state = WorkerState::kPaused;
  }
  EXPECT_EQ(Deal(kNow + 6 * kMs), Dealer::Outcome::kKept);
  EXPECT_EQ(dealer_.Prepare(kNow + 6 * kMs).readiness, Dealer::Readiness::kHold);
  EXPECT_EQ(stopped->Take(), FrameKind::kDoorbell);
  stopped->page().progress.state = WorkerState::kWorker;
  ++stopped->page().signs.passes;
  EXPECT_EQ(ShowOf(stopped).state, "worker");
  EXPECT_EQ(stopped->page().orders.wants_ready, 1u);
}

TEST_F(RecallTest, DoesNotHoldWhileOnlySuspectsAreLeft) {
  Process* stopped = DealOne();
  EXPECT_EQ(Recall(kNow + 5 * kMs), 1u);
  dealer_.Detach(slots_[OtherThan(stopped) == &first_ ? 0 : 1]);
  EXPECT_EQ(dealer_.Prepare(kNow + 6 * kMs).readiness, Dealer::Readiness::kReady);
  EXPECT_EQ(Deal(kNow + 6 * kMs), Dealer::Outcome::kDelivered);
}

TEST_F(RecallTest, DoesNotLeaveAConnectionWithAPausedWorkerThatGoesOnWithItsPasses) {
  Process* paused = DealOne();
  paused->page().progress.state = WorkerState::kPaused;
  for (uint64_t ms = 1; ms < 5; ++ms) {
    ++paused->page().signs.passes;
    EXPECT_EQ(Recall(kNow + ms * kMs), 0u);
  }
  EXPECT_EQ(Recall(kNow + 6 * kMs), 1u);
  EXPECT_EQ(OtherThan(paused)->Take(), FrameKind::kConnection);
}

TEST_F(RecallTest, DoesNotLookForEver) {
  DealOne()->Take();
  EXPECT_TRUE(dealer_.TakeOverdue(kNow, true).anything_waits) << "sent since the last look";
  EXPECT_FALSE(dealer_.TakeOverdue(kNow, true).anything_waits);
  EXPECT_FALSE(dealer_.WantsWatchOfUntaken());
  DealOne();
  EXPECT_TRUE(dealer_.WantsWatchOfUntaken());
}

TEST(RecallThreadTest, IsReplacedWhenAReceiveDoesNotReturn) {
  Result<Channel> stuck = Channel::Create();
  Result<Channel> other = Channel::Create();
  Result<SocketPair> pair = MakeStreamPair();
  Connection connection;
  connection.socket = std::move(pair->first);
  ASSERT_TRUE(other->Send(&connection, false));

  std::atomic<bool> release{false};
  std::atomic<bool> entered{false};
  std::atomic<int> hits{0};
  failpoint::SetHandler("recall-receive", [&] {
    if (hits.fetch_add(1) != 0) return;
    entered = true;
    while (!release) std::this_thread::yield();
  });
  RecallThread recall;
  std::atomic<bool> cut_off{false};
  std::atomic<int> given{0};
  std::atomic<bool> emptied{false};
  recall.Empty(
      std::make_shared<Channel>(std::move(*stuck)), [](Connection) {}, [&] { cut_off = true; });
  recall.Empty(
      std::make_shared<Channel>(std::move(*other)), [&](Connection) { ++given; },
      [&] { emptied = true; });
  while (!entered) std::this_thread::yield();
  EXPECT_FALSE(recall.AbandonIfStuck(std::chrono::hours(1)));
  EXPECT_TRUE(recall.AbandonIfStuck(std::chrono::nanoseconds(0)));
  EXPECT_TRUE(cut_off) << "its worker is done with";
  while (!emptied) std::this_thread::yield();
  EXPECT_EQ(given, 1) << "the others are served by a new thread";
  release = true;
  while (recall.busy()) std::this_thread::yield();
  failpoint::SetHandler("recall-receive", nullptr);
}

TEST_F(DealerTest, SaysOnceAPassThatAWorkerIsStuck) {
  Process process, other;
  const Slot slot = Join(&process);
  Join(&other);
  process.Accepting();
  other.Accepting();
  EXPECT_EQ(dealer_.TakeStuck(kNow).next_ns, kNow + 100 * kMs);
  process.page().progress.pass_start = kNow;
  const auto early = dealer_.TakeStuck(kNow + 60 * kMs);
  EXPECT_TRUE(early.workers.empty());
  EXPECT_EQ(early.next_ns, kNow + 100 * kMs) << "it would be found late";
  const auto due = dealer_.TakeStuck(kNow + 101 * kMs);
  ASSERT_EQ(due.workers.size(), 1u);
  EXPECT_EQ(due.workers[0].slot, slot);
  EXPECT_EQ(due.workers[0].pass_ns, 101 * kMs);
  EXPECT_EQ(due.next_ns, kNow + 201 * kMs) << "looks again and again at one that is known";
  EXPECT_TRUE(dealer_.TakeStuck(kNow + 500 * kMs).workers.empty());
  process.page().progress.pass_start = kNow + 510 * kMs;
  EXPECT_EQ(dealer_.TakeStuck(kNow + 700 * kMs).workers.size(), 1u);
  ListenerSnapshot snapshot;
  dealer_.Show(&snapshot, kNow);
  EXPECT_EQ(snapshot.workers_stuck, 2u);
}

TEST_F(DealerTest, CallsNobodyStuckWhoWaitsOrIsPaused) {
  Process waiting, paused, lying;
  for (Process* process : {&waiting, &paused, &lying}) {
    Join(process);
    process->Accepting();
    process->page().progress.pass_start = kNow;
  }
  waiting.page().progress.waiting = 1;
  paused.page().progress.state = WorkerState::kPaused;
  lying.page().progress.pass_start = ~uint64_t{0};
  const auto look = dealer_.TakeStuck(kNow + 500 * kMs);
  EXPECT_TRUE(look.workers.empty());
  EXPECT_EQ(look.next_ns, kNow + 600 * kMs);
}

class LimitedDealerTest : public DealerTest {
 protected:
  static DealerSettings With(uint64_t per_worker, uint64_t in_all) {
    DealerSettings settings = Settings();
    settings.max_active_per_worker = per_worker;
    settings.max_active = in_all;
    return settings;
  }
  explicit LimitedDealerTest(const DealerSettings& settings) : DealerTest(settings) {}

  // Accepts for as long as it may, as an intake does.
  int DealAll() {
    int dealt = 0;
    while (dealer_.Prepare(kNow).readiness == Dealer::Readiness::kReady && dealt < 100) {
      EXPECT_EQ(Deal(), Dealer::Outcome::kDelivered);
      ++dealt;
    }
    return dealt;
  }
};

class WorkerMaximum : public LimitedDealerTest {
 protected:
  WorkerMaximum() : LimitedDealerTest(With(4, 0)) {}
};

class ListenerMaximum : public LimitedDealerTest {
 protected:
  ListenerMaximum() : LimitedDealerTest(With(0, 8)) {}
};

TEST_F(WorkerMaximum, LetsOneMoreInForEachClose) {
  Process first, second;
  const Slot a = Join(&first), b = Join(&second);
  first.Accepting();
  second.Accepting();
  EXPECT_EQ(DealAll(), 8);
  EXPECT_EQ(Show(a).load, 4u);
  EXPECT_EQ(Show(b).load, 4u);
  EXPECT_TRUE(first.Asked() && second.Asked());
  // Taking one makes no room: it is pending no more, and active.
  for (int i = 0; i < 4; ++i) ASSERT_EQ(first.Take(), FrameKind::kConnection);
  EXPECT_EQ(DealAll(), 0);
  for (int i = 0; i < 4; ++i) {
    first.Close();
    EXPECT_EQ(DealAll(), 1);
    ASSERT_EQ(first.Take(), FrameKind::kConnection);
  }
  EXPECT_EQ(Show(a).handed, 8u);
  EXPECT_EQ(dealer_.kept(), 0u);
}

TEST_F(WorkerMaximum, GivesNothingToOneThatHasItsFillWhileAnotherHasNot) {
  Process first, second;
  Join(&first);
  first.Accepting();
  EXPECT_EQ(DealAll(), 4);
  const Slot b = Join(&second);
  second.Accepting();
  EXPECT_EQ(DealAll(), 4);
  EXPECT_EQ(Show(b).load, 4u);
}

TEST_F(WorkerMaximum, CountsWorkThatIsQueued) {
  Process process;
  Join(&process);
  process.Accepting();
  process.page().progress.queued = 3;
  EXPECT_EQ(DealAll(), 1);
  process.page().progress.queued = 1;
  EXPECT_EQ(DealAll(), 2);
}

TEST_F(WorkerMaximum, HoldsForOneThatReports) {
  Process process;
  const Slot slot = Join(&process);
  dealer_.Report(slot, {});
  EXPECT_EQ(DealAll(), 4);
  dealer_.Report(slot, {.active = 4, .taken = 4});
  EXPECT_EQ(DealAll(), 0);
  dealer_.Report(slot, {.active = 3, .taken = 4});
  EXPECT_EQ(DealAll(), 1);
}

TEST_F(WorkerMaximum, MissesNoCloseBetweenItsTwoLooks) {
  Process process;
  Join(&process);
  process.Accepting();
  ASSERT_EQ(DealAll(), 4);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(process.Take(), FrameKind::kConnection);
  // Asked already, it closes one before it is looked at again: its poke may be lost.
  failpoint::SetHandler("hold-asked", [&] {
    process.Close();
    failpoint::SetHandler("hold-asked", nullptr);
  });
  EXPECT_EQ(dealer_.Prepare(kNow).readiness, Dealer::Readiness::kReady);
  failpoint::SetHandler("hold-asked", nullptr);
}

TEST_F(ListenerMaximum, IsOfAllWorkersTogether) {
  Process first, second;
  const Slot a = Join(&first), b = Join(&second);
  first.Accepting();
  second.Accepting();
  EXPECT_EQ(DealAll(), 8);
  EXPECT_TRUE(first.Asked() && second.Asked());
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(second.Take(), FrameKind::kConnection);
    second.Close();
    EXPECT_EQ(DealAll(), 1);
  }
  EXPECT_EQ(Show(a).load + Show(b).load, 8u);
  EXPECT_EQ(dealer_.kept(), 0u);
}

TEST_F(ListenerMaximum, IsWhatItIsNowWithAllCountsKept) {
  Process one;
  const Slot slot = Join(&one);
  one.Accepting();
  EXPECT_EQ(DealAll(), 8);
  dealer_.Use(With(0, 12));
  EXPECT_EQ(DealAll(), 4);
  dealer_.Use(With(0, 4));
  EXPECT_EQ(DealAll(), 0);
  EXPECT_EQ(Show(slot).handed, 12u);
  dealer_.Use(With(0, 0));
  EXPECT_GT(DealAll(), 20);
}

TEST_F(ListenerMaximum, CountsThoseOfADrainingWorkerAndNoneOfOneThatLeft) {
  Process first, second;
  const Slot a = Join(&first);
  Join(&second);
  first.Accepting();
  second.Accepting();
  ASSERT_EQ(DealAll(), 8);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(first.Take(), FrameKind::kConnection);
  dealer_.SetDraining(a, true);
  EXPECT_EQ(DealAll(), 0);
  first.Close();
  EXPECT_EQ(DealAll(), 1);
  dealer_.Detach(a);
  EXPECT_EQ(DealAll(), 3);
}

TEST_F(ListenerMaximum, KeepsWhatWasTakenBackInsteadOfPassingIt) {
  Process process;
  Join(&process);
  process.Accepting();
  ASSERT_EQ(DealAll(), 8);
  dealer_.DealAgain(OneMore(), {.channel = nullptr, .slot = 1, .worker_id = 0}, kNow);
  EXPECT_EQ(DealAll(), 0);
  EXPECT_EQ(dealer_.kept(), 1u);
  ASSERT_EQ(process.Take(), FrameKind::kConnection);
  process.Close();
  EXPECT_EQ(DealAll(), 0) << "the kept one has taken the place";
  EXPECT_EQ(dealer_.kept(), 0u);
}

class SlowStartDealerTest : public DealerTest {
 protected:
  static DealerSettings Slow() {
    DealerSettings settings = Settings();
    settings.slow_start_ns = 30'000 * kMs;
    return settings;
  }
  SlowStartDealerTest() : DealerTest(Slow()) {}
};

// The only worker of a listener may have accepted by itself, so that nobody ever looked at its
// line.
TEST_F(SlowStartDealerTest, TakesAWorkerThatWasNeverDealtToForNoNewerThanTheOneThatComes) {
  Process first, second;
  const Slot a = Join(&first);
  first.Accepting();
  first.page().progress.direct = 100;
  const Slot b = Join(&second);
  second.Accepting();
  for (int i = 0; i < 10; ++i) ASSERT_EQ(Deal(), Dealer::Outcome::kDelivered);
  EXPECT_EQ(Show(a).handed, 9u);
  EXPECT_EQ(Show(b).handed, 1u);
  EXPECT_LT(Show(b).weight_part, 0.01);
  for (int i = 0; i < 55; ++i) {
    ASSERT_EQ(Deal(kNow + 15'000 * kMs), Dealer::Outcome::kDelivered);
  }
  EXPECT_EQ(Show(b).handed, 55u) << "half of what the other has";
}

class NoWorkerTest : public DealerTest {
 protected:
  static DealerSettings Resetting() {
    DealerSettings settings = Settings();
    settings.reset_without_worker = true;
    settings.hold_timeout_ns = 100 * kMs;
    return settings;
  }
  NoWorkerTest() : DealerTest(Resetting()) {}

  Dealer::Readiness ReadinessAt(uint64_t now_ns) { return dealer_.Prepare(now_ns).readiness; }
  // What the client of the connection that was dealt last finds.
  int ErrorOfClient() {
    char byte = 0;
    return recv(clients_.back().get(), &byte, 1, MSG_DONTWAIT) < 0 ? errno : 0;
  }
};

TEST_F(NoWorkerTest, ResetsNothingBeforeTheFirstHasWaitedForTheTimeout) {
  const Dealer::Preparation held = dealer_.Prepare(kNow);
  EXPECT_EQ(held.readiness, Dealer::Readiness::kHold);
  EXPECT_EQ(held.until_ns, kNow + 100 * kMs);
  EXPECT_EQ(ReadinessAt(kNow + 100 * kMs - 1), Dealer::Readiness::kHold);
  EXPECT_EQ(Deal(kNow + 100 * kMs - 1), Dealer::Outcome::kKept);
  EXPECT_EQ(ErrorOfClient(), EAGAIN);
  EXPECT_FALSE(dealer_.TakeResetsBegun());
  EXPECT_EQ(ReadinessAt(kNow + 100 * kMs), Dealer::Readiness::kReset);
  EXPECT_EQ(dealer_.kept(), 0u) << "what was in hand is reset with those that wait";
  EXPECT_EQ(ErrorOfClient(), 0) << "ended";
  EXPECT_EQ(Deal(kNow + 100 * kMs), Dealer::Outcome::kReset);
  EXPECT_TRUE(dealer_.HasErrands());
  EXPECT_TRUE(dealer_.TakeResetsBegun());
  EXPECT_EQ(Deal(kNow + 101 * kMs), Dealer::Outcome::kReset);
  EXPECT_FALSE(dealer_.TakeResetsBegun()) << "said once";
  ListenerSnapshot snapshot;
  dealer_.Show(&snapshot, kNow);
  EXPECT_EQ(snapshot.no_worker_resets, 3u);
}

TEST_F(NoWorkerTest, ResetsNothingThatAWorkerCouldHaveOnceOneCame) {
  ReadinessAt(kNow);
  EXPECT_EQ(ReadinessAt(kNow + 200 * kMs), Dealer::Readiness::kReset);
  EXPECT_EQ(Deal(kNow + 200 * kMs), Dealer::Outcome::kReset);
  Process process;
  const Slot slot = Join(&process);
  // It was accepted to be reset; the worker has registered meanwhile, and starts.
  EXPECT_EQ(Deal(kNow + 200 * kMs), Dealer::Outcome::kKept);
  EXPECT_EQ(ReadinessAt(kNow + 900 * kMs), Dealer::Readiness::kHold);
  process.Accepting();
  EXPECT_EQ(ReadinessAt(kNow + 900 * kMs), Dealer::Readiness::kReady);
  EXPECT_EQ(process.Take(), FrameKind::kConnection);
  dealer_.Detach(slot);
  EXPECT_EQ(ReadinessAt(kNow + 900 * kMs), Dealer::Readiness::kHold) << "the time begins anew";
  EXPECT_EQ(ReadinessAt(kNow + 1000 * kMs), Dealer::Readiness::kReset);
  EXPECT_EQ(Deal(kNow + 1000 * kMs), Dealer::Outcome::kReset);
  (void)dealer_.TakeResetsBegun();
}

TEST_F(NoWorkerTest, WaitsForWhoIsThereAndMayNotBeGivenAnything) {
  Process process;
  WorkerIdentity identity;
  identity.observer = true;
  const Slot slot = Join(&process, identity);
  process.page().progress.state = WorkerState::kObserver;
  for (const WorkerState state :
       {WorkerState::kObserver, WorkerState::kStarting, WorkerState::kPaused}) {
    process.page().progress.state = state;
    for (int i = 1; i < 10; ++i) {
      EXPECT_NE(ReadinessAt(kNow + i * 1000 * kMs), Dealer::Readiness::kReset);
    }
  }
  dealer_.SetDraining(slot, true);
  EXPECT_EQ(ReadinessAt(kNow + 20'000 * kMs), Dealer::Readiness::kHold);
  EXPECT_EQ(ReadinessAt(kNow + 20'100 * kMs), Dealer::Readiness::kReset);
  dealer_.SetDraining(slot, false);
  EXPECT_EQ(ReadinessAt(kNow + 20'200 * kMs), Dealer::Readiness::kHold);
}

TEST_F(DealerTest, HoldsForEverWithoutAWorkerUnlessItIsToldOtherwise) {
  for (uint64_t hours = 0; hours < 100; ++hours) {
    const Dealer::Preparation held = dealer_.Prepare(kNow + hours * 3'600'000 * kMs);
    EXPECT_EQ(held.readiness, Dealer::Readiness::kHold);
    EXPECT_EQ(held.until_ns, 0u);
  }
}

}  // namespace
}  // namespace ringdeal
