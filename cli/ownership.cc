#include "cli/ownership.h"

#include <algorithm>

#include "cli/processes.h"

namespace ringdeal {
namespace {

constexpr char kDealer[] = "ringdeald";
constexpr int kMaxAncestors = 1000;  // a pid that is used again could close a circle

void DropAncestors(pid_t of, std::vector<pid_t>* from) {
  pid_t ancestor = ParentOf(of);
  for (int i = 0; i < kMaxAncestors && ancestor > 0; ++i) {
    std::erase(*from, ancestor);
    ancestor = ParentOf(ancestor);
  }
}

}  // namespace

std::vector<pid_t> WorkersAmong(const std::vector<pid_t>& holders) {
  std::vector<pid_t> workers = holders;
  std::erase_if(workers, [](pid_t pid) { return NameOf(pid) == kDealer; });
  if (workers.size() > 1) {
    for (const pid_t pid : std::vector<pid_t>(workers)) DropAncestors(pid, &workers);
  }
  return workers;
}

}  // namespace ringdeal
