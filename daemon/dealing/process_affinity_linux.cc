#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/dealing/cpu_list.h"
#include "daemon/dealing/process_affinity.h"
#include "daemon/dealing/topology.h"

namespace ringdeal {

std::vector<int> UsableCpus() {
  constexpr size_t kBits = sizeof(unsigned long) * 8;
  std::vector<unsigned long> mask((kGreatestCpu + 1) / kBits);
  const long bytes = syscall(SYS_sched_getaffinity, 0, mask.size() * sizeof(mask[0]), mask.data());
  std::vector<int> cpus;
  for (size_t cpu = 0; bytes > 0 && cpu < static_cast<size_t>(bytes) * 8; ++cpu) {
    if ((mask[cpu / kBits] >> cpu % kBits & 1) != 0) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

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
