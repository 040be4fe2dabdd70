#include "cli/distribution.h"

#include <hwloc.h>

#include <cerrno>
#include <climits>
#include <cstdlib>

namespace ringdeal {

void Distribution::Free::operator()(hwloc_topology* topology) const {
  hwloc_topology_destroy(topology);
}

void Distribution::Free::operator()(hwloc_bitmap_s* cpus) const { hwloc_bitmap_free(cpus); }

Result<Distribution> Distribution::Over(unsigned copies) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return SystemError{errno, "hwloc_topology_init"};
  Distribution distribution;
  distribution.topology_.reset(topology);
  if (hwloc_topology_load(topology) != 0) return SystemError{errno, "hwloc_topology_load"};

  // A service manager or a container may have narrowed what this process may use. Where the system
  // does not say, all of the machine is taken.
  const std::unique_ptr<hwloc_bitmap_s, Free> allowed(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology, allowed.get(), HWLOC_CPUBIND_PROCESS) == 0 &&
      hwloc_topology_restrict(topology, allowed.get(), 0) != 0) {
    return SystemError{errno, "hwloc_topology_restrict"};
  }

  std::vector<hwloc_bitmap_t> sets(copies, nullptr);
  hwloc_obj_t root = hwloc_get_root_obj(topology);
  if (hwloc_distrib(topology, &root, 1, sets.data(), copies, INT_MAX, 0) != 0) {
    return SystemError{errno, "hwloc_distrib"};
  }
  for (hwloc_bitmap_t cpus : sets) distribution.sets_.emplace_back(cpus);
  return distribution;
}

std::string Distribution::CpusOf(unsigned copy) const {
  char* text = nullptr;
  if (hwloc_bitmap_list_asprintf(&text, sets_[copy].get()) < 0) return {};
  const std::string list = text;
  std::free(text);
  return list;
}

Result<void> Distribution::BindTo(unsigned copy) const {
  if (hwloc_set_cpubind(topology_.get(), sets_[copy].get(), HWLOC_CPUBIND_PROCESS) != 0) {
    return SystemError{errno, "hwloc_set_cpubind"};
  }
  return {};
}

}  // namespace ringdeal
