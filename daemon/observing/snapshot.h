// One look at everything ringdeald knows, taken off the accept path. Metrics, the status document
// and whatever else shows something render this and nothing else. Plain values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/operating/config.h"

namespace ringdeal {

struct WorkerSnapshot {
  uint32_t slot = 0;
  pid_t pid = 0;
  uid_t uid = 0;
  std::string state;  // starting, observer, worker, paused, draining, left, suspect, unknown
  bool one_at_a_time = false;
  uint32_t weight = 1;
  double weight_part = 1;  // of it, that it counts with now: less while it starts slowly
  std::string cpus;        // where it sits, empty if that is not known
  std::string placement;   // set, affinity, learned, none
  uint64_t active = 0;     // taken + direct - closed
  uint64_t pending = 0;    // handed - recalled - taken
  uint64_t queued = 0;
  uint64_t load = 0;
  uint64_t handed = 0;
  uint64_t recalled = 0;
  uint64_t taken = 0;
  uint64_t closed = 0;
  uint64_t direct = 0;
  double pass_seconds = 0;  // length of the running pass, 0 while parked
};

// What one receiving CPU spends its share on.
struct RowSnapshot {
  struct Stake {
    uint32_t slot = 0;
    double share = 0;  // of all connections of the listener
    int ring = 0;
  };
  int cpu = -1;  // -1: not said
  std::vector<Stake> stakes;
};

struct ListenerSnapshot {
  std::string name;
  std::string address;
  std::string policy;
  std::string mode;    // handoff, direct, holding, resetting, limited, paused, stopping
  bool owned = false;  // false: adopted
  Principals allow;    // all who may take it without holding it
  uint64_t accepted = 0;
  std::map<std::string, uint64_t> accept_errors;  // by errno name, "EMFILE"
  std::map<std::string, uint64_t> handoffs;       // by outcome: delivered, full, gone, refused
  uint64_t redealt = 0;                           // taken out of a worker's channel
  // The same by reason: left, drained, overdue, unanswered.
  std::map<std::string, uint64_t> recalls;
  uint64_t holds = 0;              // times that accepting stopped for want of a worker
  double held_seconds = 0;         // time spent so, ended holds
  uint64_t rate_pauses = 0;        // times that accepting stopped at max_accept_rate
  double rate_paused_seconds = 0;  // time spent so, ended pauses
  uint64_t no_worker_resets = 0;   // connections reset because there was no worker
  uint64_t kept = 0;               // gauge: connections in ringdeald's hand, waiting for a worker
  double free_percent = 0;  // weight of the workers that could be given more now, of all's weight
  uint64_t workers_joined = 0;
  uint64_t workers_left = 0;
  uint64_t counters_clamped = 0;  // times that a worker's counts ran backwards or past what it had
  uint64_t long_passes = 0;       // passes seen to last longer than busy_after
  uint64_t workers_stuck = 0;     // passes that lasted longer than stuck_after
  uint64_t listener_repairs = 0;  // O_NONBLOCK or the listening state set again
  // With a policy that looks at where workers sit; else they stay as they are here.
  std::map<std::string, uint64_t> deals_by_ring;  // "0" to "4"
  uint64_t turned_away = 0;                       // by the guard
  uint64_t decks_dealt = 0;
  std::vector<RowSnapshot> deck;        // by CPU
  std::vector<WorkerSnapshot> workers;  // by slot
};

// An object of the machine's tree, by its index; the first is the machine, its own parent.
struct ObjectSnapshot {
  uint32_t parent = 0;
  int ring = 0;      // between two CPUs whose smallest common object this is
  std::string cpus;  // "0-3,8"
};

struct Snapshot {
  std::string version;
  pid_t pid = 0;
  double uptime_seconds = 0;
  uint64_t control_connections = 0;                  // gauge
  std::map<std::string, uint64_t> control_refusals;  // by error code
  std::map<std::string, uint64_t> config_reloads;    // by outcome: applied, failed
  bool config_last_reload_successful = true;         // also before the first one
  uint64_t recall_threads_abandoned = 0;
  uint64_t acceptor_unblocked = 0;     // times that an accept4 that blocked was broken by a signal
  uint64_t http_connections = 0;       // gauge
  uint64_t http_connections_full = 0;  // times that their limit was reached
  uint64_t http_timeouts = 0;          // connections that were not done in time
  uint64_t http_streams = 0;           // gauge: open pages
  uint64_t http_streams_full = 0;      // times that one was refused
  uint64_t http_streams_dropped = 0;   // that did not read
  Principals adopt;                    // all whose listeners may be adopted
  std::vector<ObjectSnapshot> topology;
  std::vector<ListenerSnapshot> listeners;
};

}  // namespace ringdeal
