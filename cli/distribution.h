// Spreads copies of a program over the CPUs that this process may use, as far from each other as
// the machine's topology allows. The only place of the command that sees hwloc. Main thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "protocol/result.h"

struct hwloc_bitmap_s;
struct hwloc_topology;

namespace ringdeal {

class Distribution {
 public:
  // A set of CPUs for each of `copies`. With more copies than CPUs some have the same set.
  static Result<Distribution> Over(unsigned copies);

  Distribution() = default;

  // As RINGDEAL_CPUS takes it: "0-3,8".
  std::string CpusOf(unsigned copy) const;

  // Binds the calling process, and so what it will execute, to the CPUs of one copy.
  Result<void> BindTo(unsigned copy) const;

 private:
  struct Free {
    void operator()(hwloc_topology* topology) const;
    void operator()(hwloc_bitmap_s* cpus) const;
  };

  std::unique_ptr<hwloc_topology, Free> topology_;
  std::vector<std::unique_ptr<hwloc_bitmap_s, Free>> sets_;  // one a copy
};

}  // namespace ringdeal
