// The machine's tree as the ring deal walks it: machine, packages and NUMA nodes, cache groups,
// cores, PUs. Its source is the only place of the daemon that sees hwloc. Constant once read; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/result.h"

namespace ringdeal {

// Distance between two PUs: 0 the same PU, 1 the same core, 2 the same cache group (last-level
// cache), 3 the same package or NUMA node, 4 the machine.
using Ring = uint8_t;
inline constexpr Ring kFarthestRing = 4;

// An object of the tree, by its index in Topology::objects(). 0 is the machine: "anywhere".
using Place = uint32_t;
inline constexpr Place kAnywhere = 0;

// Of a CPU's number, in a topology and wherever an operator names CPUs: no kernel has more. A list
// that a worker registers with is kept for as long as it stays, so this bounds what it costs.
inline constexpr int kGreatestCpu = 8191;

class Topology {
 public:
  struct Object {
    Place parent = kAnywhere;   // the machine is its own parent
    Ring ring = kFarthestRing;  // between two PUs whose smallest common object this is
    std::vector<int> cpus;      // PUs by OS index, ascending, those that may be used
    bool operator==(const Object&) const = default;
  };

  // `source`: empty for the running machine (the online CPUs of ringdeald's own cgroup), the path
  // of an XML file of hwloc's, or "synthetic:pack:2 core:4 pu:2". The error is one line.
  static Result<Topology, std::string> Read(const std::string& source);

  Topology();  // of one PU, number 0: what is used where nothing is known

  // Parents before their children. Beside the machine, no two objects have the same CPUs.
  std::span<const Object> objects() const { return objects_; }
  // The PU's own object; nothing if the machine has no such PU, or it may not be used.
  std::optional<Place> PlaceOf(int cpu) const;
  // The smallest object that has all of those of `cpus` that exist; anywhere if none does.
  Place Covering(std::span<const int> cpus) const;
  // Of the smallest object that has both: for a PU and a set, Distance(PlaceOf(cpu),
  // Covering(set)).
  Ring Distance(Place a, Place b) const;

  bool operator==(const Topology&) const = default;

 private:
  explicit Topology(std::vector<Object> objects);
  Place Common(Place a, Place b) const;

  std::vector<Object> objects_;
  std::vector<Place> places_;  // by CPU; anywhere: there is no such PU
};

}  // namespace ringdeal
