#include "daemon/accepting/listener.h"

#include <sys/socket.h>

#include <utility>

#include "daemon/accepting/listening_socket.h"

namespace ringdeal {
namespace {

DealerSettings SettingsOf(const ListenerConfig& config, const Limits& limits) {
  return {.policy = FindPolicy(config.policy),
          .rules = {.slack = static_cast<uint32_t>(config.slack),
                    .slack_percent = config.slack_percent,
                    .coverage = config.coverage == "any" ? Coverage::kAny : Coverage::kAll},
          .busy_after_ns = static_cast<uint64_t>(config.busy_after.count()),
          .recall_after_ns = static_cast<uint64_t>(config.recall_after.count()),
          .stuck_after_ns = static_cast<uint64_t>(config.stuck_after.count()),
          .slow_start_ns = static_cast<uint64_t>(config.slow_start.count()),
          .channel_depth = limits.channel_depth,
          .workers = limits.workers,
          .may_be_direct = config.share_listener && !HasLimits(config),
          .max_active_per_worker = config.max_active_per_worker,
          .max_active = config.max_active,
          .reset_without_worker = config.no_worker == "reset",
          .hold_timeout_ns = static_cast<uint64_t>(config.hold_timeout.count())};
}

const char* NameOf(IntakeState state) {
  switch (state) {
    case IntakeState::kAccepting:
    case IntakeState::kAwaiting:
      return "handoff";
    case IntakeState::kHolding:
      return "holding";
    case IntakeState::kResetting:
      return "resetting";
    case IntakeState::kLimited:
      return "limited";
    case IntakeState::kPaused:
      return "paused";
    case IntakeState::kDirect:
      return "direct";
    case IntakeState::kStopped:
      return "stopping";
  }
  return "";
}

double SecondsOf(const StopCounters& stops) {
  return static_cast<double>(stops.ns.load(std::memory_order_relaxed)) * 1e-9;
}

}  // namespace

Listener::Listener(ListenerConfig config, bool owned, uid_t uid, const Limits& limits)
    : name_(config.name),
      config_(std::make_shared<const ListenerConfig>(std::move(config))),
      owned_(owned),
      uid_(uid),
      dealer_(SettingsOf(*config_, limits)) {}

std::shared_ptr<const ListenerConfig> Listener::SharedConfig() const {
  const std::lock_guard lock(config_mutex_);
  return config_;
}

void Listener::Use(const ListenerConfig& config, const Limits& limits) {
  const bool listens_anew = owned_ && config.backlog != config_->backlog;
  auto next = std::make_shared<const ListenerConfig>(config);
  {
    const std::lock_guard lock(config_mutex_);
    config_.swap(next);
  }
  for (const Socket& socket : sockets_) {
    if (listens_anew) (void)listen(socket.descriptor.get(), config.backlog);
  }
  dealer_.Use(SettingsOf(config, limits));
}

Result<void> Listener::AddSocket(UniqueFd descriptor, int flags) {
  const Result<SocketIdentity> identity = IdentityOf(descriptor.get());
  if (!identity) return identity.error();
  if (sockets_.empty()) address_ = LocalAddressText(descriptor.get());
  sockets_.push_back({std::move(descriptor), *identity, flags});
  return {};
}

Result<void> Listener::AddLostSocket(UniqueFd descriptor) {
  const Result<SocketIdentity> identity = IdentityOf(descriptor.get());
  if (!identity) return identity.error();
  sockets_.insert(sockets_.end() - 1, {std::move(descriptor), *identity, 0});
  return {};
}

const Listener::Socket* Listener::Find(const SocketIdentity& identity) const {
  for (const Socket& socket : sockets_) {
    if (socket.identity == identity) return &socket;
  }
  return nullptr;
}

void Listener::Show(ListenerSnapshot* snapshot, uint64_t now_ns) {
  snapshot->name = name();
  snapshot->address = address_;
  snapshot->owned = owned_;
  snapshot->mode = NameOf(intake_state_.load(std::memory_order_relaxed));
  snapshot->accepted = counters_.accepted.load(std::memory_order_relaxed);
  for (size_t i = 0; i < kCountedAcceptErrors; ++i) {
    const uint64_t count = counters_.errors[i].load(std::memory_order_relaxed);
    if (count > 0) snapshot->accept_errors[AcceptErrorName(i)] = count;
  }
  snapshot->holds = counters_.holds.times.load(std::memory_order_relaxed);
  snapshot->held_seconds = SecondsOf(counters_.holds);
  snapshot->rate_pauses = counters_.rate_pauses.times.load(std::memory_order_relaxed);
  snapshot->rate_paused_seconds = SecondsOf(counters_.rate_pauses);
  snapshot->listener_repairs = counters_.listener_repairs.load(std::memory_order_relaxed);
  dealer_.Show(snapshot, now_ns);
}

}  // namespace ringdeal
