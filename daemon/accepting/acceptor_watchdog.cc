#include "daemon/accepting/acceptor_watchdog.h"

#include "protocol/nonblocking_listener.h"

namespace ringdeal {
namespace {

// An accept4 that is seen twice in a row has lasted for this long at least.
constexpr std::chrono::milliseconds kTick(50);
constexpr int kQuietTicks = 20;

}  // namespace

AcceptorWatchdog::AcceptorWatchdog(EventLoop* loop,
                                   const std::vector<std::unique_ptr<Acceptor>>* acceptors)
    : acceptors_(acceptors), timer_(loop->MakeTimer([this] { Tick(); })) {}

void AcceptorWatchdog::Start() {
  seen_.resize(acceptors_->size());
  timer_->Arm(kTick);
}

void AcceptorWatchdog::Tick() {
  bool more = false;
  for (size_t i = 0; i < acceptors_->size(); ++i) more |= Look(i);
  if (more) timer_->Arm(kTick);
}

// Returns true if the acceptor has to be looked at again.
bool AcceptorWatchdog::Look(size_t index) {
  Acceptor& acceptor = *(*acceptors_)[index];
  Seen& seen = seen_[index];
  const uint64_t crossings = acceptor.gate().crossings();
  if (crossings != seen.crossings) {
    seen = {crossings, 0};
    return true;
  }
  if (crossings % 2 == 1) {
    // The flag first, so that the accept4 which follows the broken one does not block again.
    (void)MakeListenerNonBlocking(acceptor.gate().socket());
    acceptor.Interrupt();
    ++unblocked_;
    return true;
  }
  if (++seen.quiet_ticks < kQuietTicks) return true;
  return !acceptor.gate().TryEndWatch(crossings);
}

}  // namespace ringdeal
