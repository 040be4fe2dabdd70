// Reads the configuration file again and makes it the one in force: all of it, but for what waits
// for a restart, or nothing. Control thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "daemon/accepting/listener_table.h"
#include "daemon/dealing/topology.h"
#include "daemon/observing/agents.h"
#include "daemon/observing/snapshot.h"
#include "daemon/operating/config.h"
#include "daemon/operating/config_parser.h"
#include "daemon/operating/owned_listeners.h"
#include "daemon/operating/reload_plan.h"
#include "daemon/operating/retirement.h"
#include "daemon/workers/control_server.h"
#include "daemon/workers/direct_switch.h"
#include "daemon/workers/redealer.h"
#include "daemon/workers/stuck_watch.h"
#include "protocol/result.h"

namespace ringdeal {

// Where the configuration is read from.
struct ConfigFile {
  std::string path;
  MissingFile missing = MissingFile::kMeansDefaults;
};

// With every default that depends on who runs ringdeald filled in.
Config WithDefaultPath(Config config);

class Reloader {
 public:
  // All of these outlive the reloader. `config` is the one in force, which others refer to.
  struct Parts {
    Config* config;
    ListenerTable* listeners;
    OwnedListeners* owned;
    Retirement* retirement;
    Redealer* redealer;
    DirectSwitch* direct;
    StuckWatch* stuck_watch;
    ControlServer* control;
    Agents* agents;
  };

  Reloader(ConfigFile file, const Parts& parts);

  // One line for the operator: what has changed, or as the error why nothing has.
  Result<std::string, ConfigError> Reload();

  void Show(Snapshot* snapshot) const;

 private:
  Result<std::string, ConfigError> TryToReload();
  Result<Config, ConfigError> Load() const;
  void Apply(const ReloadPlan& plan, const std::vector<OwnedListeners::Opened>& opened,
             std::vector<Agents::Socket> agents, std::shared_ptr<const Topology> topology);
  void UseListenerConfigs();
  void UseListenerConfig(const std::shared_ptr<Listener>& listener, const ListenerConfig& config);

  const ConfigFile file_;
  const Parts parts_;
  uint64_t applied_ = 0;
  uint64_t failed_ = 0;
  bool last_failed_ = false;
};

}  // namespace ringdeal
