#include "cli/topology_report.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/printable.h"
#include "cli/ring_names.h"

namespace ringdeal {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kCoreRing = 1;

std::string Text(const Json& object, const char* key) {
  return Printable(object.at(key).get<std::string>());
}

std::string Number(const Json& object, const char* key) {
  return std::to_string(object.at(key).get<uint64_t>());
}

std::string Percent(double part) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", part * 100);
  return text;
}

std::string Nearness(size_t ring) {
  const std::string name = kRingNames.at(ring);
  return ring + 1 == kRingNames.size() ? "elsewhere" : "same " + name;
}

// An object that has a line of its own. What sits in its cores and CPUs is shown below it, so that
// a large machine is not a long list.
struct Branch {
  size_t depth = 0;
  std::string heading;
  std::string cores;               // those of several CPUs
  std::vector<std::string> lines;  // who sits there and who receives
};

class Tree {
 public:
  // `objects`: in the order of a walk, each after what it is in.
  explicit Tree(const Json& objects) {
    std::vector<size_t> branch_of;  // by object
    for (const Json& object : objects) {
      branch_of.push_back(branch_of.empty() ? Grow(object, 0) : Place(object, objects, branch_of));
      branch_by_cpus_[Text(object, "cpus")] = branch_of.back();
    }
    objects.at(0);  // there is always the machine
  }

  // The smallest branch that has the object of exactly these CPUs; the machine if there is none.
  Branch* Find(const std::string& cpus) {
    const auto found = branch_by_cpus_.find(cpus);
    return &branches_[found == branch_by_cpus_.end() ? 0 : found->second];
  }

  std::string AsText() const {
    std::string text;
    for (const Branch& branch : branches_) {
      const std::string indent(2 * branch.depth + 2, ' ');
      text += indent + branch.heading;
      if (!branch.cores.empty()) text += "  cores" + branch.cores;
      text += '\n';
      for (const std::string& line : branch.lines) text.append(indent).append("  " + line + '\n');
    }
    return text;
  }

 private:
  size_t Grow(const Json& object, size_t depth) {
    const auto ring = object.at("ring").get<size_t>();
    // What is as far apart as the machine, and not all of it, is a group of packages.
    const bool group = depth > 0 && ring + 1 == kRingNames.size();
    const std::string name = group ? "group" : kRingNames.at(ring);
    branches_.push_back({depth, name + "  CPUs " + Text(object, "cpus"), "", {}});
    return branches_.size() - 1;
  }

  size_t Place(const Json& object, const Json& objects, const std::vector<size_t>& branch_of) {
    const auto parent = object.at("parent").get<size_t>();
    const size_t outer = branch_of.at(parent);
    const auto ring = object.at("ring").get<size_t>();
    const bool same_cpus = Text(object, "cpus") == Text(objects[parent], "cpus");
    if (ring > kCoreRing && !same_cpus) return Grow(object, branches_[outer].depth + 1);
    if (ring == kCoreRing) branches_[outer].cores += ' ' + Text(object, "cpus");
    return outer;
  }

  std::vector<Branch> branches_;
  std::map<std::string, size_t> branch_by_cpus_;
};

std::string WorkerLine(const Json& worker) {
  const std::string cpus = Text(worker, "cpus");
  return "slot " + Number(worker, "slot") + "  pid " + Number(worker, "pid") + "  " +
         Text(worker, "state") + "  " + (cpus.empty() ? "anywhere" : "CPUs " + cpus) + " (" +
         Text(worker, "placement") + ")";
}

// What one CPU receives, and the workers that it is spent on, the nearest first.
std::string RowLine(const Json& row) {
  std::map<size_t, std::string> by_ring;
  double share = 0;
  for (const Json& worker : row.at("workers")) {
    const auto spent = worker.at("share").get<double>();
    share += spent;
    std::string& near = by_ring[worker.at("ring").get<size_t>()];
    near += (near.empty() ? "" : ", ") + ("slot " + Number(worker, "slot")) + ' ' + Percent(spent);
  }
  const auto cpu = row.at("cpu").get<int64_t>();
  std::string line =
      (cpu < 0 ? "CPUs that are not known receive " : "CPU " + std::to_string(cpu) + " receives ") +
      Percent(share);
  for (const char* separator = ": "; const auto& [ring, workers] : by_ring) {
    line += separator + Nearness(ring) + ' ' + workers;
    separator = "; ";
  }
  return line;
}

std::string DealtLine(const Json& listener) {
  std::string line;
  for (const auto& [ring, count] : listener.at("deals_by_ring").items()) {
    line += Nearness(std::stoul(ring)) + ' ' + std::to_string(count.get<uint64_t>()) + ", ";
  }
  if (line.empty()) return line;
  return "  dealt " + line + "turned away " + Number(listener, "turned_away") + ", decks " +
         Number(listener, "decks_dealt") + '\n';
}

std::string ListenerAsText(const Json& topology, const Json& listener) {
  Tree tree(topology);
  for (const Json& worker : listener.at("workers")) {
    tree.Find(Text(worker, "cpus"))->lines.push_back(WorkerLine(worker));
  }
  for (const Json& row : listener.at("deck")) {
    tree.Find(std::to_string(row.at("cpu").get<int64_t>()))->lines.push_back(RowLine(row));
  }
  return Text(listener, "name") + "  " + Text(listener, "address") + "  " +
         Text(listener, "policy") + "  " + Text(listener, "mode") + '\n' + DealtLine(listener) +
         tree.AsText();
}

}  // namespace

std::string TopologyAsText(const Json& status) {
  const Json& topology = status.at("topology");
  std::string text;
  for (const Json& listener : status.at("listeners")) text += ListenerAsText(topology, listener);
  return text.empty() ? "no listeners\n" + Tree(topology).AsText() : text;
}

}  // namespace ringdeal
