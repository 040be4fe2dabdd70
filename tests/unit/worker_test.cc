#include "daemon/workers/worker.h"

#include <gtest/gtest.h>

namespace ringdeal {
namespace {

constexpr StandingRules kRules{.now_ns = 1, .busy_after_ns = 1, .channel_depth = 4};

Worker MakeWorker() {
  const auto memory = CreatePageMemory();
  WorkerIdentity identity;
  identity.id = 1;
  return {identity, MapNewPage(memory->get()).value(), Channel::Create().value()};
}

TEST(Worker, ThatSaysItTookWhatIsTakenBackHasNoEndlessLoad) {
  Worker worker = MakeWorker();
  Page::Progress& progress = worker.page().progress;
  progress.state = WorkerState::kWorker;
  worker.CountHanded();
  progress.taken = 1;
  progress.closed = 1;
  ASSERT_TRUE(worker.Read(kRules).honest);
  worker.NoteRecalled();
  const Reading reading = worker.Read(kRules);
  EXPECT_FALSE(reading.honest);
  EXPECT_EQ(reading.load, 0u);
  EXPECT_EQ(reading.load, worker.Show(0, 1).load);
}

}  // namespace
}  // namespace ringdeal
