#include "daemon/dealing/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace ringdeal {
namespace {

constexpr char kSynthetic[] = "synthetic:";
constexpr Ring kPackageRing = 3;

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

// Without the flag hwloc binds the calling thread to one CPU after the other to look at each.
bool Load(hwloc_topology_t hwloc, const std::string& source) {
  if (source.starts_with(kSynthetic)) {
    const char* description = source.c_str() + std::strlen(kSynthetic);
    if (hwloc_topology_set_synthetic(hwloc, description) != 0) return false;
  } else if (!source.empty()) {
    if (hwloc_topology_set_xml(hwloc, source.c_str()) != 0) return false;
  }
  return hwloc_topology_set_flags(hwloc, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING) == 0 &&
         hwloc_topology_load(hwloc) == 0;
}

std::string LoadError(const std::string& source, int error_number) {
  if (source.empty()) {
    return std::string("the machine's topology cannot be read: ") + std::strerror(error_number);
  }
  if (source.starts_with(kSynthetic)) {
    return "\"" + source +
           "\" is no topology: hwloc knows such as \"synthetic:pack:2 core:4 pu:2\"";
  }
  if (error_number == ENOENT || error_number == EACCES || error_number == EISDIR) {
    return source + ": " + std::strerror(error_number);
  }
  return source + ": is no XML file of hwloc's";
}

std::vector<int> Cpus(hwloc_const_cpuset_t set) {
  std::vector<int> cpus;
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) {
    cpus.push_back(cpu);
  }
  return cpus;
}

// Memory hangs beside the tree of CPUs, on the object that has the node's CPUs.
bool IsNumaNode(hwloc_obj_t object) { return object->memory_arity > 0; }

// A node that has the whole machine tells no CPUs apart.
bool IsDivided(hwloc_topology_t hwloc) {
  const hwloc_obj_t machine = hwloc_get_root_obj(hwloc);
  if (hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_PACKAGE) > 0) return true;
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    if (!hwloc_bitmap_iszero(node->cpuset) &&
        !hwloc_bitmap_isequal(node->cpuset, machine->cpuset)) {
      return true;
    }
  }
  return false;
}

// Turns hwloc's tree into ours. What has the CPUs of what it is in (a package of one core, a cache
// of one core's own) is one object with it, of the smaller ring. What is no rung of its own (a
// group, a die, a cache below the last level) stays in the tree and has the ring of what it is in,
// so that the deal prefers it.
class Builder {
 public:
  std::vector<Topology::Object> Build(hwloc_topology_t hwloc) {
    const hwloc_obj_t machine = hwloc_get_root_obj(hwloc);
    objects_.push_back({kAnywhere, kFarthestRing, Cpus(machine->cpuset)});
    Place inside = kAnywhere;
    if (!IsDivided(hwloc)) inside = Put(kAnywhere, kPackageRing, objects_[kAnywhere].cpus);
    AddChildren(machine, inside, false);
    return std::move(objects_);
  }

 private:
  void AddChildren(hwloc_obj_t object, Place place, bool in_cache) {
    for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) {
      Add(child, place, in_cache);
    }
  }

  void Add(hwloc_obj_t object, Place parent, bool in_cache) {
    if (hwloc_bitmap_iszero(object->cpuset)) return;
    const bool is_cache = hwloc_obj_type_is_dcache(object->type) != 0;
    Ring ring = kFarthestRing;
    if (object->type == HWLOC_OBJ_PU) {
      ring = 0;
    } else if (object->type == HWLOC_OBJ_CORE) {
      ring = 1;
    } else if (is_cache && !in_cache) {  // what is met first from above is the last level
      ring = 2;
    } else if (object->type == HWLOC_OBJ_PACKAGE || IsNumaNode(object)) {
      ring = kPackageRing;
    }
    AddChildren(object, Put(parent, ring, Cpus(object->cpuset)), in_cache || is_cache);
  }

  Place Put(Place parent, Ring ring, std::vector<int> cpus) {
    ring = std::min(ring, objects_[parent].ring);
    const bool same = cpus == objects_[parent].cpus;
    if (same && (parent != kAnywhere || ring == kFarthestRing)) {
      objects_[parent].ring = ring;
      return parent;
    }
    objects_.push_back({parent, ring, std::move(cpus)});
    return static_cast<Place>(objects_.size() - 1);
  }

  std::vector<Topology::Object> objects_;
};

}  // namespace

Result<Topology, std::string> Topology::Read(const std::string& source) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return LoadError("", errno);
  const HwlocTopology hwloc(raw);
  errno = 0;
  if (!Load(hwloc.get(), source)) return LoadError(source, errno);
  std::vector<Object> objects = Builder().Build(hwloc.get());
  const std::vector<int>& cpus = objects[kAnywhere].cpus;
  if (cpus.empty()) return source + ": has no CPU that may be used";
  if (cpus.back() > kGreatestCpu) {
    return source + ": has a CPU of a number above " + std::to_string(kGreatestCpu);
  }
  return Topology(std::move(objects));
}

Topology::Topology() : Topology({{kAnywhere, kFarthestRing, {0}}, {kAnywhere, 0, {0}}}) {}

Topology::Topology(std::vector<Object> objects) : objects_(std::move(objects)) {
  places_.resize(static_cast<size_t>(objects_[kAnywhere].cpus.back()) + 1, kAnywhere);
  for (Place place = 0; place < objects_.size(); ++place) {
    if (objects_[place].ring == 0) places_[static_cast<size_t>(objects_[place].cpus[0])] = place;
  }
}

std::optional<Place> Topology::PlaceOf(int cpu) const {
  if (cpu < 0 || static_cast<size_t>(cpu) >= places_.size()) return std::nullopt;
  const Place place = places_[static_cast<size_t>(cpu)];
  if (place == kAnywhere) return std::nullopt;
  return place;
}

// An object's index is greater than its parent's: the greater of two is in the smaller, or beside
// it.
Place Topology::Common(Place a, Place b) const {
  while (a != b) {
    if (a > b) {
      a = objects_[a].parent;
    } else {
      b = objects_[b].parent;
    }
  }
  return a;
}

Place Topology::Covering(std::span<const int> cpus) const {
  std::optional<Place> covering;
  for (const int cpu : cpus) {
    if (const std::optional<Place> place = PlaceOf(cpu)) {
      covering = covering ? Common(*covering, *place) : *place;
    }
  }
  return covering.value_or(kAnywhere);
}

Ring Topology::Distance(Place a, Place b) const { return objects_[Common(a, b)].ring; }

}  // namespace ringdeal
