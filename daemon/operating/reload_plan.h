// What a configuration that was read again changes of the one in force. Pure.
#pragma once

#include <string>
#include <vector>

#include "daemon/operating/config.h"

namespace ringdeal {

struct ReloadPlan {
  // A listener that stays, and the names of its keys that are others now.
  struct Change {
    std::string listener;
    std::vector<std::string> keys;
  };

  // To be in force: the new one, in which what waits for a restart is as it was.
  Config config;
  // A listener with another address is a new one: it is among both.
  std::vector<ListenerConfig> added;
  std::vector<std::string> removed;  // by name
  std::vector<Change> changed;
  std::vector<std::string> changed_keys;   // beside those of listeners: "log.level"
  std::vector<std::string> needs_restart;  // "acceptors", "listeners.ipv6_only"
};

// Both with every default filled in.
ReloadPlan PlanReload(const Config& in_force, const Config& read);

// One line for the operator.
std::string Describe(const ReloadPlan& plan);

}  // namespace ringdeal
