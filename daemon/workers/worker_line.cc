#include "daemon/workers/worker_line.h"

#include <algorithm>

namespace ringdeal {
namespace {

// `direct` counts accepts that ringdeald does not see; more than this in a lifetime is a lie.
constexpr uint64_t kMostDirect = uint64_t{1} << 48;

}  // namespace

WorkerLine ReadLine(const Page& page) {
  const Page::Progress& progress = page.progress;
  WorkerLine line;
  line.closed = progress.closed.load(std::memory_order_seq_cst);
  line.direct = progress.direct.load(std::memory_order_acquire);
  line.taken = progress.taken.load(std::memory_order_seq_cst);
  line.waiting = progress.waiting.load(std::memory_order_seq_cst);
  line.pass_start = progress.pass_start.load(std::memory_order_relaxed);
  line.state = progress.state.load(std::memory_order_seq_cst);
  line.style = progress.style.load(std::memory_order_relaxed);
  line.queued = progress.queued.load(std::memory_order_seq_cst);
  return line;
}

bool BelievedCounts::Believe(const WorkerLine& line, uint64_t given) {
  const bool honest = line.taken >= taken_ && line.taken <= given && line.direct >= direct_ &&
                      line.direct <= kMostDirect && line.closed >= closed_ &&
                      line.closed <= given + line.direct;
  taken_ = std::clamp(line.taken, taken_, std::max(taken_, given));
  direct_ = std::clamp(line.direct, direct_, kMostDirect);
  closed_ = std::clamp(line.closed, closed_, std::max(closed_, taken_ + direct_));
  return honest;
}

uint64_t WithoutProgress(const WorkerLine& line, uint64_t progress_ns, uint64_t now_ns) {
  if (line.pass_start == 0 || line.waiting > 0) return 0;
  // What began "after now" began while this look was taken.
  const uint64_t since = std::max(line.pass_start, progress_ns);
  return now_ns > since ? now_ns - since : 0;
}

Standing StandingOf(const WorkerLine& line, uint64_t pending, uint64_t without_progress_ns,
                    const StandingRules& rules) {
  if (line.state != WorkerState::kWorker) return Standing::kUnavailable;
  if (pending >= rules.channel_depth) return Standing::kUnavailable;
  if (line.style == AcceptStyle::kOneAtATime && line.waiting <= pending) {
    return Standing::kUnavailable;
  }
  if (without_progress_ns > kBusyTimes * rules.busy_after_ns) return Standing::kBusy;
  return Standing::kEligible;
}

uint64_t BelievedQueued(const WorkerLine& line) { return std::min(line.queued, kMostQueued); }

}  // namespace ringdeal
