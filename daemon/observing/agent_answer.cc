#include "daemon/observing/agent_answer.h"

#include <algorithm>
#include <cmath>

namespace ringdeal {

std::string AgentAnswer(const ListenerSnapshot& listener) {
  size_t there = 0;
  size_t draining = 0;
  for (const WorkerSnapshot& worker : listener.workers) {
    if (worker.state == "draining") ++draining;
    if (worker.state == "worker" || worker.state == "paused" || worker.state == "suspect") ++there;
  }
  if (there == 0) return draining > 0 ? "drain\n" : kAgentDown;
  // Never 0, which would be a drain: what comes waits here, as it would for any other.
  const long percent = std::clamp(std::lround(listener.free_percent), 1L, 100L);
  // "ready" ends a drain, "up" a down.
  return "ready up " + std::to_string(percent) + "%\n";
}

}  // namespace ringdeal
