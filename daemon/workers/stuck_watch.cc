#include "daemon/workers/stuck_watch.h"

#include <algorithm>

#include "daemon/operating/log.h"
#include "daemon/operating/monotonic_clock.h"

namespace ringdeal {
namespace {

// Whatever workers write into their pages, they do not keep us looking.
constexpr uint64_t kLeastRestNs = 10'000'000;

uint64_t LeastStuckAfter(const Config& config) {
  Duration least = config.adopted.stuck_after;
  for (const ListenerConfig& listener : config.listeners) {
    least = std::min(least, listener.stuck_after);
  }
  return static_cast<uint64_t>(least.count());
}

}  // namespace

StuckWatch::StuckWatch(EventLoop* loop, const Config& config, const ListenerTable* listeners)
    : listeners_(listeners),
      longest_rest_ns_(LeastStuckAfter(config)),
      timer_(loop->MakeTimer([this] { Look(); })) {
  timer_->Arm(std::chrono::nanoseconds(longest_rest_ns_));
}

void StuckWatch::Use(const Config& config) {
  longest_rest_ns_ = LeastStuckAfter(config);
  Look();
}

void StuckWatch::Look() {
  const uint64_t now_ns = MonotonicNs();
  uint64_t next_ns = now_ns + longest_rest_ns_;
  for (const auto& listener : listeners_->all()) {
    const Dealer::StuckLook look = listener->dealer().TakeStuck(now_ns);
    next_ns = std::min(next_ns, look.next_ns);
    for (const Dealer::StuckWorker& worker : look.workers) {
      Log(LogLevel::kWarn, "stuck",
          {{"listener", listener->name()},
           {"slot", worker.slot},
           {"pid", worker.pid},
           {"seconds", static_cast<double>(worker.pass_ns) * 1e-9}});
    }
  }
  timer_->Arm(std::chrono::nanoseconds(std::max(next_ns - now_ns, kLeastRestNs)));
}

}  // namespace ringdeal
