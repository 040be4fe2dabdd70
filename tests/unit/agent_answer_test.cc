#include "daemon/observing/agent_answer.h"

#include <gtest/gtest.h>

namespace ringdeal {
namespace {

ListenerSnapshot With(std::vector<std::string> states, double free_percent) {
  ListenerSnapshot listener;
  listener.free_percent = free_percent;
  for (const std::string& state : states) listener.workers.emplace_back().state = state;
  return listener;
}

TEST(AgentAnswer, SaysWhatPartIsFree) {
  EXPECT_EQ(AgentAnswer(With({"worker", "worker"}, 100)), "ready up 100%\n");
  EXPECT_EQ(AgentAnswer(With({"worker", "suspect"}, 49.6)), "ready up 50%\n");
}

TEST(AgentAnswer, NeverDrainsAHostThatIsOnlyBusy) {
  EXPECT_EQ(AgentAnswer(With({"worker", "paused"}, 0)), "ready up 1%\n");
  EXPECT_EQ(AgentAnswer(With({"worker", "draining"}, 0.2)), "ready up 1%\n");
}

TEST(AgentAnswer, DrainsAHostWhoseWorkersAllDrain) {
  EXPECT_EQ(AgentAnswer(With({"draining", "draining"}, 0)), "drain\n");
  EXPECT_EQ(AgentAnswer(With({"draining", "observer", "left"}, 0)), "drain\n");
}

TEST(AgentAnswer, IsDownWithoutAWorker) {
  EXPECT_EQ(AgentAnswer(With({}, 0)), "down\n");
  EXPECT_EQ(AgentAnswer(With({"observer", "left", "starting", "unknown"}, 0)), "down\n");
}

}  // namespace
}  // namespace ringdeal
