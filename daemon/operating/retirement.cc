#include "daemon/operating/retirement.h"

#include <algorithm>
#include <utility>

#include "daemon/operating/log.h"
#include "daemon/operating/monotonic_clock.h"

namespace ringdeal {
namespace {

constexpr std::chrono::milliseconds kLookAgainAfter(5);

}  // namespace

Retirement::Retirement(EventLoop* loop, const Config& config, ListenerTable* listeners,
                       Notebook* notebook, const RecallThread* recall, SendAway send_away)
    : loop_(loop),
      config_(config),
      listeners_(listeners),
      notebook_(notebook),
      recall_(recall),
      send_away_(std::move(send_away)),
      timer_(loop->MakeTimer([this] { Look(); })) {}

void Retirement::Begin(const ListenerPtr& listener) {
  const auto patience = static_cast<uint64_t>(config_.drain_timeout.count());
  leaving_.push_back({listener, MonotonicNs() + patience});
  notebook_->Forget(*listener);
  listeners_->TakeOut(
      listener, [this, listener] { loop_->Post([this, listener] { NoteStopped(listener); }); });
}

Retirement::ListenerPtr Retirement::FindInNeed(const SocketIdentity& identity) const {
  for (const Leaving& each : leaving_) {
    Dealer& dealer = each.listener->dealer();
    if (each.listener->Find(identity) == nullptr) continue;
    if (dealer.kept() > 0 || dealer.HasUntaken(MonotonicNs())) return each.listener;
  }
  return nullptr;
}

std::vector<Retirement::ListenerPtr> Retirement::leaving() const {
  std::vector<ListenerPtr> listeners;
  for (const Leaving& each : leaving_) listeners.push_back(each.listener);
  return listeners;
}

void Retirement::NoteStopped(const ListenerPtr& listener) {
  for (Leaving& each : leaving_) {
    if (each.listener == listener) each.stopped = true;
  }
  Look();
}

void Retirement::Look() {
  const uint64_t now_ns = MonotonicNs();
  std::vector<ListenerPtr> ended;
  std::erase_if(leaving_, [&](const Leaving& each) {
    if (!MayEnd(each, now_ns)) return false;
    ended.push_back(each.listener);
    return true;
  });
  for (const ListenerPtr& listener : ended) End(listener);
  for (const Leaving& each : leaving_) AskTheDrained(each, now_ns);
  if (!leaving_.empty()) timer_->Arm(kLookAgainAfter);
}

// In this order: what the recall thread had in hand is kept by the time that it is not busy, and
// nothing is sent any more but what is kept.
bool Retirement::MayEnd(const Leaving& leaving, uint64_t now_ns) const {
  if (!leaving.stopped) return false;
  if (now_ns >= leaving.deadline_ns) return true;
  Dealer& dealer = leaving.listener->dealer();
  return !recall_->busy() && dealer.kept() == 0 && !dealer.HasUntaken(now_ns);
}

// They accept for themselves once the listener is theirs, as at a stop.
void Retirement::AskTheDrained(const Leaving& leaving, uint64_t now_ns) const {
  if (leaving.listener->dealer().EndDrainsIfNeeded(now_ns, leaving.deadline_ns)) {
    listeners_->Wake(leaving.listener);
  }
}

void Retirement::End(const ListenerPtr& listener) {
  if (const size_t kept = listener->dealer().kept(); kept > 0) {
    Log(LogLevel::kError, "connections_dropped",
        {{"listener", listener->name()},
         {"connections", kept},
         {"reason", "it was removed, and no worker took them within drain_timeout"}});
  }
  send_away_(listener);
  listeners_->Remove(listener, [] {});
  Log(LogLevel::kInfo, "removed",
      {{"listener", listener->name()}, {"address", listener->address()}});
}

}  // namespace ringdeal
