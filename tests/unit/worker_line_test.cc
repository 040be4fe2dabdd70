#include "daemon/workers/worker_line.h"

#include <memory>

#include <gtest/gtest.h>

namespace ringdeal {
namespace {

constexpr StandingRules kRules{
    .now_ns = 10'000'000, .busy_after_ns = 2'000'000, .channel_depth = 4};

WorkerLine Accepting() {
  WorkerLine line;
  line.state = WorkerState::kWorker;
  line.waiting = 1;
  return line;
}

TEST(BelievedCounts, AreWhatAnHonestWorkerSays) {
  BelievedCounts counts;
  WorkerLine line;
  line.taken = 5;
  line.closed = 2;
  line.direct = 1;
  EXPECT_TRUE(counts.Believe(line, 6));
  EXPECT_EQ(counts.active(), 4u);
}

TEST(BelievedCounts, DoNotRunBackwards) {
  BelievedCounts counts;
  WorkerLine line;
  line.taken = 5;
  line.closed = 4;
  ASSERT_TRUE(counts.Believe(line, 5));
  line.taken = 3;
  line.closed = 1;
  EXPECT_FALSE(counts.Believe(line, 5));
  EXPECT_EQ(counts.taken(), 5u);
  EXPECT_EQ(counts.active(), 1u);
}

TEST(BelievedCounts, DoNotPassWhatWasHanded) {
  BelievedCounts counts;
  WorkerLine line;
  line.taken = 1'000'000;
  EXPECT_FALSE(counts.Believe(line, 7));
  EXPECT_EQ(counts.taken(), 7u);
}

TEST(BelievedCounts, DoNotShowMoreClosedThanTaken) {
  BelievedCounts counts;
  WorkerLine line;
  line.taken = 2;
  line.closed = ~uint64_t{0};
  EXPECT_FALSE(counts.Believe(line, 2));
  EXPECT_EQ(counts.active(), 0u);
  line.closed = 1;  // now it runs backwards as well
  EXPECT_FALSE(counts.Believe(line, 2));
  EXPECT_EQ(counts.active(), 0u);
}

TEST(BelievedCounts, DoNotOverflowWithWhatAWorkerSaysOfDirectAccepts) {
  BelievedCounts counts;
  WorkerLine line;
  line.direct = ~uint64_t{0};
  EXPECT_FALSE(counts.Believe(line, 0));
  EXPECT_LE(counts.active(), uint64_t{1} << 48);
}

TEST(Standing, IsNotEligibleBeforeTheFirstAccept) {
  for (const WorkerState state :
       {WorkerState::kStarting, WorkerState::kObserver, WorkerState::kPaused, WorkerState::kLeft}) {
    WorkerLine line = Accepting();
    line.state = state;
    EXPECT_EQ(StandingOf(line, 0, 0, kRules), Standing::kUnavailable);
  }
  EXPECT_EQ(StandingOf(Accepting(), 0, 0, kRules), Standing::kEligible);
}

TEST(Standing, IsNotEligibleForAStateThatDoesNotExist) {
  WorkerLine line = Accepting();
  line.state = static_cast<WorkerState>(77);
  EXPECT_EQ(StandingOf(line, 0, 0, kRules), Standing::kUnavailable);
}

TEST(Standing, IsBusyOnlyAfterALongTimeWithoutProgress) {
  const uint64_t limit = kBusyTimes * kRules.busy_after_ns;
  EXPECT_EQ(StandingOf(Accepting(), 0, limit, kRules), Standing::kEligible);
  EXPECT_EQ(StandingOf(Accepting(), 0, limit + 1, kRules), Standing::kBusy);
}

TEST(WithoutProgress, DoesNotCountTheTimeBeforeAConnectionWasTaken) {
  WorkerLine line = Accepting();
  line.waiting = 0;
  line.pass_start = 4'000'000;
  EXPECT_EQ(WithoutProgress(line, 0, 10'000'000), 6'000'000u);
  EXPECT_EQ(WithoutProgress(line, 9'000'000, 10'000'000), 1'000'000u);
  EXPECT_EQ(WithoutProgress(line, 0, 3'000'000), 0u) << "a pass that began after the look";
}

TEST(WithoutProgress, DoesNotCountWhileAThreadWaits) {
  WorkerLine line = Accepting();
  line.pass_start = 4'000'000;
  EXPECT_EQ(WithoutProgress(line, 0, 10'000'000), 0u);
  line.waiting = 0;
  line.pass_start = 0;
  EXPECT_EQ(WithoutProgress(line, 0, 10'000'000), 0u);
}

TEST(Standing, GivesABlockingProgramNoSecondConnection) {
  WorkerLine line = Accepting();
  line.style = AcceptStyle::kOneAtATime;
  EXPECT_EQ(StandingOf(line, 0, 0, kRules), Standing::kEligible);
  EXPECT_EQ(StandingOf(line, 1, 0, kRules), Standing::kUnavailable);
  line.waiting = 2;
  EXPECT_EQ(StandingOf(line, 1, 0, kRules), Standing::kEligible);
  line.waiting = 0;
  EXPECT_EQ(StandingOf(line, 0, 0, kRules), Standing::kUnavailable);
}

TEST(Standing, DoesNotFillAChannelBeyondItsDepth) {
  EXPECT_EQ(StandingOf(Accepting(), 3, 0, kRules), Standing::kEligible);
  EXPECT_EQ(StandingOf(Accepting(), 4, 0, kRules), Standing::kUnavailable);
}

TEST(ReadLine, ReadsWhatThePageSays) {
  auto page = std::make_unique<Page>();
  page->progress.taken = 3;
  page->progress.closed = 1;
  page->progress.waiting = 2;
  page->progress.queued = ~uint32_t{0};
  page->progress.state = WorkerState::kWorker;
  const WorkerLine line = ReadLine(*page);
  EXPECT_EQ(line.taken, 3u);
  EXPECT_EQ(line.closed, 1u);
  EXPECT_EQ(line.waiting, 2u);
  EXPECT_EQ(BelievedQueued(line), uint64_t{1} << 20);
}

}  // namespace
}  // namespace ringdeal
