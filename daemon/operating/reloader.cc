#include "daemon/operating/reloader.h"

#include <utility>

#include "daemon/dealing/policy.h"
#include "daemon/operating/log.h"
#include "daemon/operating/monotonic_clock.h"
#include "daemon/operating/service_manager.h"
#include "protocol/control_messages.h"
#include "protocol/socket_address.h"

namespace ringdeal {

Config WithDefaultPath(Config config) {
  if (!config.control.path.empty()) return config;
  if (const std::string given = ServiceDirectory("RUNTIME_DIRECTORY"); !given.empty()) {
    config.control.path = given + "/control.sock";
    return config;
  }
  char path[kMaxAddressText];
  if (DefaultControlPath(path, sizeof(path))) config.control.path = path;
  return config;
}

Reloader::Reloader(ConfigFile file, const Parts& parts) : file_(std::move(file)), parts_(parts) {}

Result<std::string, ConfigError> Reloader::Reload() {
  NotifyServiceManager("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(MonotonicNs() / 1000));
  const auto done = TryToReload();
  last_failed_ = !done.ok();
  ++(last_failed_ ? failed_ : applied_);
  if (done) {
    Log(LogLevel::kInfo, "reloaded", {{"changes", *done}});
  } else {
    Log(LogLevel::kError, "reload_failed", {{"reason", done.error().text}});
  }
  NotifyServiceManager("READY=1");
  return done;
}

// Whatever can fail comes first and changes nothing.
Result<std::string, ConfigError> Reloader::TryToReload() {
  auto read = Load();
  if (!read) return read.error();
  const ReloadPlan plan = PlanReload(*parts_.config, WithDefaultPath(std::move(*read)));
  std::shared_ptr<const Topology> topology;
  if (plan.config.topology != parts_.config->topology) {
    auto found = Topology::Read(plan.config.topology);
    if (!found) return ConfigError{"topology: " + found.error()};
    topology = std::make_shared<const Topology>(std::move(*found));
  }
  auto agents = parts_.agents->Open(plan.config);
  if (!agents) return ConfigError{agents.error()};
  const auto opened = parts_.owned->OpenAdded(plan);
  if (!opened) return ConfigError{opened.error()};
  Apply(plan, *opened, std::move(*agents), std::move(topology));
  return Describe(plan);
}

// A default file that was there must not be missed: all listeners would go.
Result<Config, ConfigError> Reloader::Load() const {
  const MissingFile missing = parts_.config->source.empty() ? file_.missing : MissingFile::kIsError;
  return LoadConfig(file_.path, missing, PolicyNames());
}

void Reloader::Apply(const ReloadPlan& plan, const std::vector<OwnedListeners::Opened>& opened,
                     std::vector<Agents::Socket> agents, std::shared_ptr<const Topology> topology) {
  Config& config = *parts_.config;
  config = plan.config;
  StartLog(config.log);
  parts_.agents->Use(config, std::move(agents));
  parts_.control->Use(config.limits);
  parts_.owned->ReviseAwaited();
  for (const std::string& name : plan.removed) {
    // One that is still awaited is not among the listeners.
    if (const auto listener = parts_.listeners->FindByName(name))
      parts_.retirement->Begin(listener);
  }
  for (const OwnedListeners::Opened& each : opened) {
    if (each.adopted != nullptr) parts_.retirement->Begin(each.adopted);
  }
  parts_.owned->Begin(opened);
  parts_.redealer->UseHalfLife(static_cast<uint64_t>(config.receive_half_life.count()));
  if (topology != nullptr) {
    parts_.redealer->UseTopology(std::move(topology), config.topology.empty(), MonotonicNs());
  }
  UseListenerConfigs();
  parts_.stuck_watch->Use(config);
}

// Those that the configuration does not name, adopted or given by the service manager, have what it
// says of adopted ones.
void Reloader::UseListenerConfigs() {
  for (const auto& listener : parts_.listeners->all()) {
    ListenerConfig config = parts_.config->adopted;
    config.name = listener->name();
    config.bind = listener->config().bind;
    for (const ListenerConfig& named : parts_.config->listeners) {
      if (listener->owned() && named.name == listener->name()) config = named;
    }
    UseListenerConfig(listener, config);
  }
}

void Reloader::UseListenerConfig(const std::shared_ptr<Listener>& listener,
                                 const ListenerConfig& config) {
  const ListenerConfig before = listener->config();
  listener->Use(config, parts_.config->limits);
  const bool other_owner =
      config.mode != before.mode || config.owner != before.owner || config.group != before.group;
  if (other_owner) {
    if (const auto set = SetPathOwner(config); !set) {
      Log(LogLevel::kError, "path_not_changed",
          {{"listener", listener->name()}, {"reason", set.error().text}});
    }
  }
  if (!FindPolicy(config.policy)->by_place) parts_.redealer->Forget(listener);
  parts_.redealer->Look(listener, MonotonicNs());
  parts_.direct->Look(listener);
  parts_.listeners->Wake(listener);
}

void Reloader::Show(Snapshot* snapshot) const {
  snapshot->config_reloads = {{"applied", applied_}, {"failed", failed_}};
  snapshot->config_last_reload_successful = !last_failed_;
}

}  // namespace ringdeal
