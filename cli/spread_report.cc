#include "cli/spread_report.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/processes.h"

namespace ringdeal {
namespace {

// The busiest first.
std::vector<std::pair<pid_t, unsigned>> Sorted(const Tally& tally) {
  std::vector<std::pair<pid_t, unsigned>> workers(tally.workers.begin(), tally.workers.end());
  std::ranges::stable_sort(workers, std::ranges::greater(), &std::pair<pid_t, unsigned>::second);
  return workers;
}

std::string Line(unsigned count, const std::string& what) {
  return count == 0 ? "" : std::to_string(count) + " " + what + "\n";
}

}  // namespace

std::string SpreadAsJson(const Tally& tally) {
  nlohmann::ordered_json workers = nlohmann::ordered_json::array();
  for (const auto& [pid, connections] : Sorted(tally)) {
    workers.push_back({{"pid", pid}, {"connections", connections}});
  }
  unsigned failed = 0;
  for (const auto& [error, count] : tally.failed) failed += count;
  const nlohmann::ordered_json report = {{"connections", tally.connections},
                                         {"workers", workers},
                                         {"max", tally.max()},
                                         {"min", tally.min()},
                                         {"unaccepted", tally.unaccepted},
                                         {"shared", tally.shared},
                                         {"unknown", tally.unknown},
                                         {"failed", failed}};
  return report.dump() + "\n";
}

std::string SpreadAsText(const Tally& tally) {
  std::string text = "connections       pid  program\n";
  for (const auto& [pid, connections] : Sorted(tally)) {
    char line[128];
    std::snprintf(line, sizeof(line), "%11u  %8d  %s\n", connections, pid, NameOf(pid).c_str());
    text += line;
  }
  text += "max:min " + std::to_string(tally.max()) + ":" + std::to_string(tally.min()) + " of " +
          std::to_string(tally.connections) + " connections\n";
  text += Line(tally.unaccepted, "not accepted by any worker");
  text += Line(tally.shared, "shared by several processes");
  text += Line(tally.unknown, "with an end that was closed or cannot be seen from here");
  for (const auto& [error, count] : tally.failed) {
    text += Line(count, std::string("not connected: ") + std::strerror(error));
  }
  return text;
}

}  // namespace ringdeal
