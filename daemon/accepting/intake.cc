#include "daemon/accepting/intake.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "daemon/accepting/accept_socket.h"
#include "daemon/accepting/listening_socket.h"
#include "daemon/accepting/receiving_cpu.h"
#include "daemon/operating/failpoint.h"
#include "daemon/operating/monotonic_clock.h"

namespace ringdeal {
namespace {

// Connections accepted on one socket before the others of the thread have their turn.
constexpr int kRound = 16;
// A UNIX socket that somebody shut down is readable for ever and has nothing to accept.
constexpr int kMostEmptyRounds = 64;
constexpr uint64_t kFirstPauseNs = 10'000'000;
constexpr uint64_t kLongestPauseNs = 1'000'000'000;

}  // namespace

Intake::Intake(std::shared_ptr<Listener> listener, EventLoop* loop, AcceptGate* gate,
               const IntakeCallbacks* callbacks)
    : listener_(std::move(listener)),
      config_(listener_->SharedConfig()),
      loop_(loop),
      gate_(gate),
      callbacks_(callbacks),
      timer_(loop->MakeTimer([this] { Resume(); })) {}

void Intake::WatchSocket(int socket) {
  auto source = std::make_unique<Source>();
  source->socket = socket;
  (void)LocalAddressOf(socket, &source->address);
  source->watch = loop_->WatchReadable(socket, [this, from = source.get()] { Accept(*from); });
  if (source->watch == nullptr) return callbacks_->failed(listener_, errno);
  if (!watching_) source->watch->Disable();
  sources_.push_back(std::move(source));
  if (sources_.size() == 2) Resume();  // the only worker holds one of them
}

void Intake::Resume() {
  const uint64_t now_ns = MonotonicNs();
  config_ = listener_->SharedConfig();
  listener_->dealer().NoteAnswers(now_ns);
  const bool all_dealt = listener_->dealer().kept() == 0 || MayAccept(now_ns);
  RunErrands();
  if (!all_dealt || stopped_) return;
  if (LeavesToWorker()) return Suspend(IntakeState::kDirect, 0);
  if (const uint64_t wait_ns = WaitForRate(now_ns)) return Suspend(IntakeState::kLimited, wait_ns);
  // Whether somebody may be given a connection is asked when one waits.
  Enter(IntakeState::kAccepting, now_ns);
  SetWatching(true);
}

void Intake::Stop() {
  stopped_ = true;
  Enter(IntakeState::kStopped, MonotonicNs());
  SetWatching(false);
}

void Intake::Accept(const Source& source) {
  const uint64_t now_ns = MonotonicNs();
  if (const uint64_t wait_ns = WaitForRate(now_ns)) return Suspend(IntakeState::kLimited, wait_ns);
  for (int i = 0; i < kRound && WaitForRate(now_ns) == 0; ++i) {
    if (!MayAccept(now_ns) || !AcceptOne(source, now_ns)) break;
  }
  RunErrands();
}

void Intake::RunErrands() {
  if (listener_->dealer().HasErrands()) callbacks_->errands(listener_);
}

bool Intake::MayAccept(uint64_t now_ns) {
  const Dealer::Preparation preparation = listener_->dealer().Prepare(now_ns);
  const uint64_t wait_ns = preparation.until_ns - std::min(now_ns, preparation.until_ns);
  switch (preparation.readiness) {
    case Dealer::Readiness::kReady:
      return true;
    case Dealer::Readiness::kAwait:
      Suspend(IntakeState::kAwaiting, wait_ns);
      break;
    case Dealer::Readiness::kHold:
      Suspend(IntakeState::kHolding, wait_ns);
      break;
    case Dealer::Readiness::kReset:
      Enter(IntakeState::kResetting, now_ns);
      return true;
    case Dealer::Readiness::kPause:
      Pause();
      break;
    case Dealer::Readiness::kLeave:
      if (sources_.size() > 1) return true;
      Suspend(IntakeState::kDirect, 0);
      break;
  }
  return false;
}

bool Intake::LeavesToWorker() const {
  return sources_.size() == 1 && listener_->dealer().LeaveToWorker();
}

bool Intake::AcceptOne(const Source& source, uint64_t now_ns) {
  if (gate_->Enter(source.socket)) callbacks_->watch_gate();
  const bool more = AcceptInGate(source, now_ns);
  gate_->Leave();
  return more;
}

bool Intake::AcceptInGate(const Source& source, uint64_t now_ns) {
  const bool nonblocking = listener_->dealer().wants_nonblocking();
  Connection connection =
      AcceptConnection(source.socket, nonblocking ? Blocking::kNo : Blocking::kYes);
  if (!connection.socket) return HandleError(source, errno);
  empty_rounds_ = 0;
  served_ = &source;
  listener_->counters().accepted.fetch_add(1, std::memory_order_relaxed);
  if (listener_->dealer().wants_receiving_cpu()) {
    connection.cpu = ReceivingCpuOf(connection.socket.get());
  }
  rate_.Take(config_->max_accept_rate, now_ns);
  RINGDEAL_FAILPOINT("accepted");
  switch (listener_->dealer().Deal(std::move(connection), now_ns)) {
    case Dealer::Outcome::kDelivered:
      pause_ns_ = 0;
      return true;
    case Dealer::Outcome::kReset:
    case Dealer::Outcome::kKept:  // the next Prepare decides
      return true;
    case Dealer::Outcome::kRefused:
      Pause();
      return false;
  }
  return true;
}

bool Intake::HandleError(const Source& source, int error_number) {
  const AcceptVerdict verdict = ClassifyAcceptError(error_number);
  if (verdict == AcceptVerdict::kEmpty) {
    if (++empty_rounds_ > kMostEmptyRounds) Pause();
    return false;
  }
  listener_->counters().errors[AcceptErrorIndex(error_number)].fetch_add(1,
                                                                         std::memory_order_relaxed);
  switch (verdict) {
    case AcceptVerdict::kEmpty:
      return false;
    case AcceptVerdict::kRetry:
    case AcceptVerdict::kSkip:
      return true;
    case AcceptVerdict::kListenAgain:
      if (ListenAgain(source.socket, source.address, config_->backlog)) {
        listener_->counters().listener_repairs.fetch_add(1, std::memory_order_relaxed);
        return true;
      }
      Pause();
      return false;
    case AcceptVerdict::kPause:
      Pause();
      return false;
    case AcceptVerdict::kFatal:
      Stop();
      callbacks_->failed(listener_, error_number);
      return false;
  }
  return false;
}

void Intake::Pause() {
  pause_ns_ = std::clamp(pause_ns_ * 2, kFirstPauseNs, kLongestPauseNs);
  Suspend(IntakeState::kPaused, pause_ns_);
}

void Intake::Suspend(IntakeState state, uint64_t delay_ns) {
  Enter(state, MonotonicNs());
  SetWatching(false);
  const bool is_awaited = state == IntakeState::kHolding || state == IntakeState::kDirect;
  if (!is_awaited || delay_ns > 0) timer_->Arm(std::chrono::nanoseconds(delay_ns));
}

void Intake::Enter(IntakeState state, uint64_t now_ns) {
  const IntakeState before = listener_->intake_state().load(std::memory_order_relaxed);
  if (stopped_) state = IntakeState::kStopped;
  if (state == before) return;
  if (StopCounters* ended = listener_->counters().Of(before)) {
    ended->ns.fetch_add(now_ns - state_began_ns_, std::memory_order_relaxed);
  }
  if (StopCounters* begun = listener_->counters().Of(state)) {
    begun->times.fetch_add(1, std::memory_order_relaxed);
  }
  state_began_ns_ = now_ns;
  listener_->intake_state().store(state, std::memory_order_relaxed);
}

void Intake::SetWatching(bool watching) {
  if (watching && !watching_) PutServedLast();
  watching_ = watching;
  for (const auto& source : sources_) {
    watching ? source->watch->Enable() : source->watch->Disable();
  }
}

// Sockets report in the order in which their watches begin. In the same one each time, the first
// would have every place that becomes free, and the others none.
void Intake::PutServedLast() {
  const auto served = std::ranges::find(sources_, served_, &std::unique_ptr<Source>::get);
  if (served != sources_.end()) std::rotate(sources_.begin(), served + 1, sources_.end());
}

}  // namespace ringdeal
