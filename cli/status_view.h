// What the command reads in ringdeald's status document. Plain values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ringdeal {

struct Permitted {
  std::vector<uid_t> uids;
  std::vector<gid_t> gids;
};

struct WorkerView {
  pid_t pid = 0;
  std::string state;
  bool one_at_a_time = false;
  uint64_t active = 0;
  uint64_t handed = 0;
  double pass_seconds = 0;
};

struct ListenerView {
  std::string name;
  std::string address;
  std::string mode;
  bool owned = false;
  Permitted allow;
  std::vector<WorkerView> workers;
};

struct StatusView {
  pid_t pid = 0;  // ringdeald's
  Permitted adopt;
  std::vector<ListenerView> listeners;
};

// nullopt if the document is not understood; keys that are missing read as nothing.
std::optional<StatusView> ParseStatus(const std::string& document);

}  // namespace ringdeal
