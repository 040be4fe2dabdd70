// What moving all supplies to all demands costs at least, found the slow way: over and over one
// unit by the cheapest path of a flow network. The answer against which the deck is held.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace ringdeal {

class FlowNetwork {
 public:
  explicit FlowNetwork(size_t nodes) : nodes_(nodes) {}

  void Add(size_t from, size_t to, int capacity, int cost) {
    arcs_.push_back({from, to, capacity, cost});
    arcs_.push_back({to, from, 0, -cost});
  }

  // The cost of moving one more unit; false if there is no way.
  bool MoveOne(size_t source, size_t sink, int* cost) {
    constexpr int kFar = std::numeric_limits<int>::max() / 2;
    std::vector<int> distances(nodes_, kFar);
    std::vector<size_t> arrived_by(nodes_, 0);
    distances[source] = 0;
    for (bool shorter = true; std::exchange(shorter, false);) {
      for (size_t i = 0; i < arcs_.size(); ++i) {
        const Arc& arc = arcs_[i];
        if (arc.capacity == 0 || distances[arc.from] + arc.cost >= distances[arc.to]) continue;
        if (distances[arc.from] == kFar) continue;
        distances[arc.to] = distances[arc.from] + arc.cost;
        arrived_by[arc.to] = i;
        shorter = true;
      }
    }
    if (distances[sink] == kFar) return false;
    for (size_t node = sink; node != source; node = arcs_[arrived_by[node]].from) {
      --arcs_[arrived_by[node]].capacity;
      ++arcs_[arrived_by[node] ^ 1].capacity;
    }
    *cost += distances[sink];
    return true;
  }

 private:
  struct Arc {
    size_t from, to;
    int capacity, cost;
  };
  const size_t nodes_;
  std::vector<Arc> arcs_;  // each followed by its way back
};

// `costs[i][j]`: of one unit from supply i to demand j. REQUIRES: equal totals.
inline int CheapestTransport(const std::vector<int>& supplies, const std::vector<int>& demands,
                             const std::vector<std::vector<int>>& costs) {
  const size_t source = supplies.size() + demands.size(), sink = source + 1;
  FlowNetwork network(sink + 1);
  for (size_t i = 0; i < supplies.size(); ++i) {
    network.Add(source, i, supplies[i], 0);
    for (size_t j = 0; j < demands.size(); ++j) {
      network.Add(i, supplies.size() + j, supplies[i], costs[i][j]);
    }
  }
  for (size_t j = 0; j < demands.size(); ++j) {
    network.Add(supplies.size() + j, sink, demands[j], 0);
  }
  int cost = 0;
  while (network.MoveOne(source, sink, &cost)) {
  }
  return cost;
}

}  // namespace ringdeal
