#include "daemon/operating/closing.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "daemon/accepting/accept_socket.h"
#include "daemon/accepting/closing_socket.h"
#include "daemon/accepting/listening_socket.h"
#include "daemon/operating/log.h"
#include "daemon/operating/monotonic_clock.h"
#include "daemon/operating/service_manager.h"
#include "protocol/new_clients.h"

namespace ringdeal {
namespace {

constexpr std::chrono::milliseconds kTick(10);

bool IsUnix(const Listener& listener) { return listener.address().starts_with("unix:"); }
bool IsAbstract(const Listener& listener) {
  return IsUnix(listener) && !IsPath(listener.address());
}

bool AnyWaits(const Listener& listener) {
  return std::any_of(listener.sockets().begin(), listener.sockets().end(),
                     [](const auto& socket) { return HasWaiting(socket.descriptor.get()); });
}

// Deals what a UNIX socket that was shut down still has, one by one: the next is accepted when the
// one before has a worker. Returns true if nothing is left.
bool DealRest(Listener* listener, int socket, uint64_t now_ns) {
  while (listener->dealer().kept() == 0) {
    Connection connection = AcceptConnection(socket);
    if (!connection.socket) {
      const AcceptVerdict verdict = ClassifyAcceptError(errno);
      return verdict == AcceptVerdict::kEmpty || verdict == AcceptVerdict::kListenAgain;
    }
    (void)listener->dealer().Deal(std::move(connection), now_ns);
  }
  return false;
}

// Else they would wait for as long as a worker holds the socket. Returns true if there were any.
bool ResetRest(int socket) {
  bool any = false;
  for (Connection each = AcceptConnection(socket); each.socket; each = AcceptConnection(socket)) {
    CloseWithReset(std::move(each));
    any = true;
  }
  return any;
}

void LogDropped(const Listener& listener) {
  Log(LogLevel::kError, "connections_dropped",
      {{"listener", listener.name()},
       {"reason", "no worker could be given what waited within drain_timeout"}});
}

}  // namespace

Closing::Closing(EventLoop* loop, ListenerTable* listeners)
    : loop_(loop), listeners_(listeners), timer_(loop->MakeTimer([this] { Look(); })) {}

void Closing::Begin(uint64_t deadline_ns, std::function<void()> done) {
  done_ = std::move(done);
  deadline_ns_ = deadline_ns;
  const uint64_t now_ns = MonotonicNs();
  for (const auto& listener : listeners_->all()) {
    if (listener->owned() && !listener->lent()) all_.push_back({listener, now_ns});
  }
  for (const Each& each : all_) {
    const std::string& address = each.listener->address();
    if (IsPath(address)) (void)unlink(address.c_str() + std::strlen("unix:"));
    for (const Listener::Socket& socket : each.listener->sockets()) {
      TurnNewClientsAway(socket.descriptor.get());
    }
  }
  Look();
}

bool Closing::Hurry() {
  if (done_ == nullptr) return false;
  deadline_ns_ = 0;
  Look();
  return true;
}

void Closing::Look() {
  if (done_ == nullptr) return;
  const uint64_t now_ns = MonotonicNs();
  for (Each& each : all_) LookAt(&each, now_ns);
  const auto is_closed = [](const Each& each) { return each.stage == Stage::kClosed; };
  if (std::all_of(all_.begin(), all_.end(), is_closed)) return std::exchange(done_, nullptr)();
  timer_->Arm(kTick);
}

void Closing::LookAt(Each* each, uint64_t now_ns) {
  Listener& listener = *each->listener;
  const bool is_late = now_ns >= deadline_ns_;
  if (each->stage == Stage::kOpen) {
    if (AnyWaits(listener)) each->waited_ns = now_ns;
    constexpr auto kQuietNs = static_cast<uint64_t>(std::chrono::nanoseconds(kQuiet).count());
    // It cannot be made unreachable otherwise; and what waits is there afterwards.
    if (is_late || IsAbstract(listener) || now_ns - each->waited_ns >= kQuietNs)
      StopAccepting(each);
  }
  if (each->stage == Stage::kEmptying) Empty(each, now_ns, is_late);
  // What a drained worker alone could take is not dropped for that.
  const bool is_held =
      listener.intake_state().load(std::memory_order_relaxed) == IntakeState::kHolding;
  if (listener.dealer().EndDrainsIfNeeded(now_ns, deadline_ns_, is_held)) {
    listeners_->Wake(each->listener);
  }
}

void Closing::Empty(Each* each, uint64_t now_ns, bool is_late) {
  Listener& listener = *each->listener;
  bool is_empty = true;
  bool is_dropped = false;
  for (const Listener::Socket& socket : listener.sockets()) {
    is_empty = DealRest(&listener, socket.descriptor.get(), now_ns) && is_empty;
    if (is_late && ResetRest(socket.descriptor.get())) is_dropped = true;
  }
  if (is_dropped) LogDropped(listener);
  if (is_empty || is_late) return Finish(each);
  listeners_->Wake(each->listener);
}

void Closing::StopAccepting(Each* each) {
  each->stage = Stage::kStopping;
  listeners_->StopAccepting(each->listener,
                            [this, each] { loop_->Post([this, each] { ShutDownSockets(each); }); });
}

void Closing::ShutDownSockets(Each* each) {
  const Listener& listener = *each->listener;
  if (!IsUnix(listener) && AnyWaits(listener)) LogDropped(listener);
  for (const Listener::Socket& socket : listener.sockets()) ShutDown(socket.descriptor.get());
  each->stage = Stage::kEmptying;
  Look();
}

void Closing::Finish(Each* each) {
  const Listener& listener = *each->listener;
  ForgetStoredListener(listener.name());
  each->stage = Stage::kClosed;
  Log(LogLevel::kInfo, "closed", {{"listener", listener.name()}});
}

}  // namespace ringdeal
