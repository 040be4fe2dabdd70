// What the command reads in ringdeald's status document. Plain values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ringdeal {

struct Permitted {
  std::vector<uid_t> uids;
  std::vector<gid_t> gids;
};

struct WorkerView {
  uint64_t slot = 0;
  pid_t pid = 0;
  std::string state;
  bool one_at_a_time = false;
  std::string cpus;
  std::string placement;
  uint64_t active = 0;
  uint64_t pending = 0;
  uint64_t handed = 0;
  uint64_t recalled = 0;
  uint64_t taken = 0;
  uint64_t closed = 0;
  uint64_t direct = 0;
  double pass_seconds = 0;
};

struct ListenerView {
  std::string name;
  std::string address;
  std::string policy;
  std::string mode;
  bool owned = false;
  Permitted allow;
  uint64_t holds = 0;
  uint64_t redealt = 0;
  std::map<std::string, uint64_t> deals_by_ring;  // "0" to "4"; empty if nobody asks
  std::vector<WorkerView> workers;
};

struct StatusView {
  std::string version;
  pid_t pid = 0;  // ringdeald's
  double uptime_seconds = 0;
  Permitted adopt;
  std::vector<ListenerView> listeners;
};

// nullopt if the document is not understood; keys that are missing read as nothing.
std::optional<StatusView> ParseStatus(const std::string& document);

}  // namespace ringdeal
