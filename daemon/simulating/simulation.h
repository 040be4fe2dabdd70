// The deal in virtual time: what a policy makes of a load on a machine, with the code that deals
// live. The same request gives the same result. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/dealing/deck.h"
#include "daemon/dealing/policy.h"
#include "daemon/dealing/topology.h"
#include "daemon/dealing/view.h"

namespace ringdeal {

enum class Holding : uint8_t { kConstant, kExponential, kPareto };

struct SimulatedWorker {
  std::vector<int> cpus;  // none: anywhere
  uint32_t weight = 1;
  bool set = false;  // by the operator, not found out
};

struct SimulationRequest {
  std::string topology;  // as Topology::Read takes it
  std::vector<Receiver> receivers;
  std::vector<SimulatedWorker> workers;
  // Null: a random worker, as the kernel's hash picks one.
  const Policy* policy = nullptr;
  PolicyRules rules;
  double arrivals_per_second = 0;  // at random moments
  Holding holding = Holding::kExponential;
  double mean_holding_seconds = 1;
  double pareto_shape = 1.5;  // above 1; the nearer to it, the longer the longest
  uint64_t connections = 0;
  uint64_t seed = 1;
};

struct SimulationResult {
  std::array<double, kFarthestRing + 1> rings_percent = {};
  // Of the connections, the worker's that is furthest from its share; percent of that share.
  double share_error_max_percent = 0;
  // Of open connections per weight: maximum less minimum, percent of the mean; the average over
  // time, without the first fifth of the connections.
  double active_spread_percent_of_mean = 0;
  uint64_t idle_workers = 0;  // that were given nothing at all
};

// A CPU that is asked for and that the topology does not have.
std::optional<int> MissingCpu(const Topology& topology, const SimulationRequest& request);

// REQUIRES: connections, receivers, workers and the rates are positive.
SimulationResult Simulate(const Topology& topology, const SimulationRequest& request);

}  // namespace ringdeal
