// What one look at a worker's page says, and what of it ringdeald believes. Pure; guarded by the
// dealer's lock.
#pragma once

#include <cstdint>

#include "daemon/dealing/worker_view.h"
#include "protocol/page.h"

namespace ringdeal {

struct WorkerLine {
  uint64_t closed = 0;
  uint64_t taken = 0;
  uint64_t direct = 0;
  uint64_t pass_start = 0;
  WorkerState state = WorkerState::kStarting;
  AcceptStyle style = AcceptStyle::kEvents;
  uint32_t waiting = 0;
  uint32_t queued = 0;
};

// Reads `closed` before `taken` and `taken` before `waiting`: a connection is taken before it is
// closed, and `waiting` is lowered before `taken` is raised. So no line shows more closed than
// taken, nor a thread waiting that has been given something. What can make a worker eligible is
// read sequentially consistent, as wants_ready is written before it (page.h).
WorkerLine ReadLine(const Page& page);

// The believed counts of a worker. They never run backwards and never pass what was handed off,
// whatever the page says: a hostile worker can make its own share wrong, nothing else.
class BelievedCounts {
 public:
  // `given` = handed - recalled. Returns false if the line had to be corrected.
  bool Believe(const WorkerLine& line, uint64_t given);

  uint64_t taken() const { return taken_; }
  uint64_t closed() const { return closed_; }
  uint64_t direct() const { return direct_; }
  uint64_t active() const { return taken_ + direct_ - closed_; }

 private:
  uint64_t taken_ = 0;
  uint64_t closed_ = 0;
  uint64_t direct_ = 0;
};

// What decides a standing besides the line itself.
struct StandingRules {
  uint64_t now_ns = 0;         // CLOCK_MONOTONIC
  uint64_t busy_after_ns = 0;  // without progress for longer: in a long pass
  uint64_t channel_depth = 0;  // this many pending: unavailable
  uint64_t max_load = 0;       // this load: unavailable; 0: no limit
};

// A worker without progress for this many times busy_after is not merely slow: it gets nothing
// while another is there.
inline constexpr uint64_t kBusyTimes = 25;

// How long the worker has shown no progress: it is in a pass, and neither has the pass begun nor
// was a connection seen to be taken since. `progress_ns`: when one was last seen to be taken.
uint64_t WithoutProgress(const WorkerLine& line, uint64_t progress_ns, uint64_t now_ns);

Standing StandingOf(const WorkerLine& line, uint64_t pending, uint64_t without_progress_ns,
                    const StandingRules& rules);

// True of a worker that may not be given one more until it closes one.
inline bool IsAtMaximum(uint64_t load, const StandingRules& rules) {
  return rules.max_load != 0 && load >= rules.max_load;
}

// The most work that a worker is believed to hold and not to have begun.
inline constexpr uint32_t kMostQueued = 1 << 20;

// `queued` as it counts in a load: what a worker says of itself is bounded.
uint64_t BelievedQueued(const WorkerLine& line);

}  // namespace ringdeal
