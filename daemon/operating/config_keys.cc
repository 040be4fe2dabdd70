#include "daemon/operating/config_keys.h"

#include <algorithm>
#include <iterator>

#include "daemon/operating/config_values.h"

namespace ringdeal {
namespace {

using C = Config&;
using L = ListenerConfig&;
using F = ConfigField;

constexpr int64_t kMicrosecond = 1000;
constexpr int64_t kMillisecond = 1000 * kMicrosecond;
constexpr int64_t kSecond = 1000 * kMillisecond;
constexpr int64_t kHour = 3600 * kSecond;

// Section, name, default, unit, help; the field; for texts their kind; for numbers their range.
constexpr ConfigKey kKeys[] = {
    {"", "adopt", "true", "true, false or principals",
     "Whose own listeners are adopted: true is root, ringdeald's user and the group ringdeal",
     [](C c, L) -> F { return &c.adopt; }},
    {"", "acceptors", "1", "threads", "Threads that accept connections",
     [](C c, L) -> F { return &c.acceptors; }, TextKind::kNone, 1, 64, TakesEffect::kAtRestart},
    {"", "drain_timeout", "30s", "duration",
     "At stop: how long connections without a worker may still wait for one",
     [](C c, L) -> F { return &c.drain_timeout; }, TextKind::kNone, 0, 24 * kHour},
    {"", "on_stop", "direct", "direct or close",
     "At stop, of owned listeners: workers accept from them without ringdeald (direct), or clients "
     "are "
     "refused until it is back (close)",
     [](C c, L) -> F { return &c.on_stop; }, TextKind::kOnStop},
    {"", "reclaim_timeout", "10s", "duration",
     "How long an owned address may be held by others before the log says by whom",
     [](C c, L) -> F { return &c.reclaim_timeout; }, TextKind::kNone, 0, 24 * kHour},
    {"", "topology", "\"\"", "topology",
     "The machine; empty: as it is; or the path of an XML file of hwloc's; or synthetic: and "
     "hwloc's "
     "words",
     [](C c, L) -> F { return &c.topology; }, TextKind::kTopology},
    {"", "receive_half_life", "10s", "duration",
     "After so long a connection counts half for the share of the CPU that received it",
     [](C c, L) -> F { return &c.receive_half_life; }, TextKind::kNone, 100 * kMillisecond,
     24 * kHour},

    {"control", "path", "\"\"", "path",
     "The control socket; empty: /run/ringdeal/control.sock, without root "
     "$XDG_RUNTIME_DIR/ringdeal/control.sock",
     [](C c, L) -> F { return &c.control.path; }, TextKind::kPath, 0, 0, TakesEffect::kAtRestart},
    {"control", "mode", "0666", "octal mode",
     "Mode of the path; who may do what is decided for each request",
     [](C c, L) -> F { return &c.control.mode; }, TextKind::kNone, 0, 0, TakesEffect::kAtRestart},
    {"control", "owner", "\"\"", "user", "Owner of the path; empty: as created",
     [](C c, L) -> F { return &c.control.owner; }, TextKind::kUser, 0, 0, TakesEffect::kAtRestart},
    {"control", "group", "\"\"", "group", "Group of the path; empty: as created",
     [](C c, L) -> F { return &c.control.group; }, TextKind::kGroup, 0, 0, TakesEffect::kAtRestart},
    {"control", "admin", "[]", "principals",
     "Who may drain and reload, beside root and ringdeald's user",
     [](C c, L) -> F { return &c.control.admin; }},

    {"http", "bind", "127.0.0.1:9945", "address",
     "Where /metrics, /status.json, /healthz and /readyz are served; empty: nowhere",
     [](C c, L) -> F { return &c.http_bind; }, TextKind::kHttpAddress, 0, 0,
     TakesEffect::kAtRestart},

    {"listeners", "name", "", "name", "What the listener is called in metrics, status and requests",
     [](C, L l) -> F { return &l.name; }, TextKind::kName},
    {"listeners", "bind", "", "address", "Where to listen", [](C, L l) -> F { return &l.bind; },
     TextKind::kListenAddress},
    {"listeners", "backlog", "4096", "connections",
     "Limit of the kernel's accept queue, which net.core.somaxconn limits too",
     [](C, L l) -> F { return &l.backlog; }, TextKind::kNone, 1, 1'000'000},
    {"listeners", "ipv6_only", "false", "true or false", "IPv6 addresses only: no IPv4 connections",
     [](C, L l) -> F { return &l.ipv6_only; }, TextKind::kNone, 0, 0, TakesEffect::kAtRestart},
    {"listeners", "mode", "0660", "octal mode", "Mode of a UNIX socket's path",
     [](C, L l) -> F { return &l.mode; }},
    {"listeners", "owner", "\"\"", "user", "Owner of a UNIX socket's path; empty: as created",
     [](C, L l) -> F { return &l.owner; }, TextKind::kUser},
    {"listeners", "group", "\"\"", "group", "Group of a UNIX socket's path; empty: as created",
     [](C, L l) -> F { return &l.group; }, TextKind::kGroup},
    {"listeners", "policy", "ring-deal", "policy", "How the worker for a connection is picked",
     [](C, L l) -> F { return &l.policy; }, TextKind::kPolicy},
    {"listeners", "slack", "1", "connections",
     "ring-deal: how far above the least loaded a nearer worker may be; 1 is even to one",
     [](C, L l) -> F { return &l.slack; }, TextKind::kNone, 1, 1'000'000},
    {"listeners", "slack_percent", "12.5", "percent",
     "ring-deal: the same, in percent of the mean load; the greater one counts",
     [](C, L l) -> F { return &l.slack_percent; }, TextKind::kNone, 0, 1000},
    {"listeners", "coverage", "all", "any or all",
     "exact-claim: a found CPU is claimed always (any), or while every worker has one that "
     "receives",
     [](C, L l) -> F { return &l.coverage; }, TextKind::kCoverage},
    {"listeners", "busy_after", "2ms", "duration",
     "In one pass for longer, a worker loses ties; 25 times as long, it gets nothing while another "
     "is there",
     [](C, L l) -> F { return &l.busy_after; }, TextKind::kNone, 100 * kMicrosecond, 60 * kSecond},
    {"listeners", "recall_after", "5ms", "duration",
     "A connection that was handed off and not taken for longer goes to another worker, if its own "
     "shows no progress",
     [](C, L l) -> F { return &l.recall_after; }, TextKind::kNone, kMillisecond, 60 * kSecond},
    {"listeners", "stuck_after", "30s", "duration",
     "In one pass for longer, a worker is reported as stuck, once a pass; nothing is done to it",
     [](C, L l) -> F { return &l.stuck_after; }, TextKind::kNone, 100 * kMillisecond, 24 * kHour},
    {"listeners", "slow_start", "0s", "duration",
     "For so long a worker that comes grows to its weight, so that it is not given all that is "
     "new; "
     "0s: at once",
     [](C, L l) -> F { return &l.slow_start; }, TextKind::kNone, 0, 24 * kHour},
    {"listeners", "max_active_per_worker", "0", "connections",
     "A worker with so much load is given nothing until it closes a connection; 0: no limit",
     [](C, L l) -> F { return &l.max_active_per_worker; }, TextKind::kNone, 0, 1'000'000},
    {"listeners", "max_active", "0", "connections",
     "With so much load on all workers together, none is given anything until one closes a "
     "connection; 0: no limit",
     [](C, L l) -> F { return &l.max_active; }, TextKind::kNone, 0, 1'000'000},
    {"listeners", "max_accept_rate", "0", "connections a second",
     "No more are accepted in a second; the others wait in the kernel. 0: no limit",
     [](C, L l) -> F { return &l.max_accept_rate; }, TextKind::kNone, 0, 1'000'000},
    {"listeners", "no_worker", "hold", "hold or reset",
     "Connections while there is no worker at all: they wait in the kernel, or are reset after "
     "hold_timeout",
     [](C, L l) -> F { return &l.no_worker; }, TextKind::kNoWorker},
    {"listeners", "hold_timeout", "30s", "duration",
     "no_worker: reset: from so long after a connection first found none they are reset, until one "
     "comes",
     [](C, L l) -> F { return &l.hold_timeout; }, TextKind::kNone, 0, 24 * kHour},
    {"listeners", "share_listener", "true", "true or false",
     "Workers get the listener itself too, and go on without ringdeald if it is gone",
     [](C, L l) -> F { return &l.share_listener; }},
    {"listeners", "agent", "\"\"", "address",
     "Where HAProxy's agent check is answered with the part of its weight that this host should "
     "have; empty: nowhere",
     [](C, L l) -> F { return &l.agent; }, TextKind::kAgentAddress},
    {"listeners", "allow", "[]", "principals",
     "Who may bind the address under the shim, or register without holding the listener, beside "
     "root and ringdeald's user",
     [](C, L l) -> F { return &l.allow; }},

    {"adopted", "policy", "ring-deal", "policy", "As of a listener",
     [](C, L l) -> F { return &l.policy; }, TextKind::kPolicy},
    {"adopted", "slack", "1", "connections", "As of a listener",
     [](C, L l) -> F { return &l.slack; }, TextKind::kNone, 1, 1'000'000},
    {"adopted", "slack_percent", "12.5", "percent", "As of a listener",
     [](C, L l) -> F { return &l.slack_percent; }, TextKind::kNone, 0, 1000},
    {"adopted", "coverage", "all", "any or all", "As of a listener",
     [](C, L l) -> F { return &l.coverage; }, TextKind::kCoverage},
    {"adopted", "busy_after", "2ms", "duration", "As of a listener",
     [](C, L l) -> F { return &l.busy_after; }, TextKind::kNone, 100 * kMicrosecond, 60 * kSecond},
    {"adopted", "recall_after", "5ms", "duration", "As of a listener",
     [](C, L l) -> F { return &l.recall_after; }, TextKind::kNone, kMillisecond, 60 * kSecond},
    {"adopted", "stuck_after", "30s", "duration", "As of a listener",
     [](C, L l) -> F { return &l.stuck_after; }, TextKind::kNone, 100 * kMillisecond, 24 * kHour},
    {"adopted", "slow_start", "0s", "duration", "As of a listener",
     [](C, L l) -> F { return &l.slow_start; }, TextKind::kNone, 0, 24 * kHour},
    {"adopted", "max_active_per_worker", "0", "connections", "As of a listener",
     [](C, L l) -> F { return &l.max_active_per_worker; }, TextKind::kNone, 0, 1'000'000},
    {"adopted", "max_active", "0", "connections", "As of a listener",
     [](C, L l) -> F { return &l.max_active; }, TextKind::kNone, 0, 1'000'000},
    {"adopted", "max_accept_rate", "0", "connections a second", "As of a listener",
     [](C, L l) -> F { return &l.max_accept_rate; }, TextKind::kNone, 0, 1'000'000},
    {"adopted", "no_worker", "hold", "hold or reset", "As of a listener",
     [](C, L l) -> F { return &l.no_worker; }, TextKind::kNoWorker},
    {"adopted", "hold_timeout", "30s", "duration", "As of a listener",
     [](C, L l) -> F { return &l.hold_timeout; }, TextKind::kNone, 0, 24 * kHour},
    {"adopted", "share_listener", "true", "true or false", "As of a listener",
     [](C, L l) -> F { return &l.share_listener; }},

    {"log", "level", "info", "level", "The least that is logged: debug, info, warn or error",
     [](C c, L) -> F { return &c.log.level; }, TextKind::kLogLevel},
    {"log", "format", "logfmt", "format", "Form of a line: logfmt or json",
     [](C c, L) -> F { return &c.log.format; }, TextKind::kLogFormat},

    {"limits", "workers", "1024", "workers", "Workers of one listener",
     [](C c, L) -> F { return &c.limits.workers; }, TextKind::kNone, 1, 65536},
    {"limits", "control_connections", "4096", "connections", "Control connections in all",
     [](C c, L) -> F { return &c.limits.control_connections; }, TextKind::kNone, 1, 1'000'000},
    {"limits", "control_connections_per_uid", "2048", "connections",
     "Control connections of one user that is not root",
     [](C c, L) -> F { return &c.limits.control_connections_per_uid; }, TextKind::kNone, 1,
     1'000'000},
    {"limits", "channel_depth", "128", "connections",
     "Connections that may wait in the channel of one worker",
     [](C c, L) -> F { return &c.limits.channel_depth; }, TextKind::kNone, 1, 4096},
    {"limits", "registration_timeout", "5s", "duration",
     "How long a control connection may say nothing before it has registered",
     [](C c, L) -> F { return &c.limits.registration_timeout; }, TextKind::kNone,
     100 * kMillisecond, kHour},
};

void AddOnce(std::string_view name, std::vector<std::string_view>* names) {
  if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
}

}  // namespace

std::span<const ConfigKey> ConfigKeys() { return kKeys; }

const ConfigKey* FindConfigKey(std::string_view section, std::string_view name) {
  const auto* key = std::find_if(std::begin(kKeys), std::end(kKeys), [&](const ConfigKey& each) {
    return each.section == section && each.name == name;
  });
  return key == std::end(kKeys) ? nullptr : key;
}

std::string FullName(const ConfigKey& key) {
  const std::string name(key.name);
  return key.section == kTopSection ? name : std::string(key.section) + "." + name;
}

std::vector<std::string_view> NamesInSection(std::string_view section) {
  std::vector<std::string_view> names;
  for (const ConfigKey& key : kKeys) {
    if (key.section == section) {
      names.push_back(key.name);
    } else if (section == kTopSection) {
      AddOnce(key.section, &names);
    }
  }
  return names;
}

bool IsConfigSection(std::string_view name) {
  return name != kTopSection &&
         std::any_of(std::begin(kKeys), std::end(kKeys),
                     [&](const ConfigKey& key) { return key.section == name; });
}

std::string RangeOf(const ConfigKey& key) {
  if (key.most == 0) return {};
  if (key.unit == "duration") {
    return FormatDuration(Duration(key.least)) + " to " + FormatDuration(Duration(key.most));
  }
  return std::to_string(key.least) + " to " + std::to_string(key.most);
}

}  // namespace ringdeal
