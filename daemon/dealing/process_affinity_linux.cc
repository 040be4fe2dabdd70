#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/dealing/cpu_list.h"
#include "daemon/dealing/process_affinity.h"

namespace ringdeal {

std::vector<int> ProcessAffinity(pid_t pid) {
  if (pid <= 0) return {};
  constexpr std::string_view kKey = "Cpus_allowed_list:\t";
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(kKey)) continue;
    auto cpus = ParseCpuList(std::string_view(line).substr(kKey.size()));
    return cpus ? std::move(cpus).value() : std::vector<int>();
  }
  return {};
}

}  // namespace ringdeal
