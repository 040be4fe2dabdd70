#include "daemon/dealing/policy.h"

#include "daemon/dealing/view.h"

namespace ringdeal {
namespace {

// By load with this connection, per weight. A tie is lost by one in a long pass, and goes to the
// one that was dealt to longest ago, so that ties rotate. A long pass is no more than a tie-breaker
// here: on a busy machine every worker is now and then kept from running for some milliseconds, and
// passing it over then would leave the spread uneven for as long as the connections live.
Rank ByLoad(const WorkerView& worker) {
  return {(worker.load + 1) * kRankUnit / worker.weight, worker.in_long_pass, worker.last_dealt};
}

// In turn, a worker of weight 2 twice as often; ties as above.
Rank ByTurn(const WorkerView& worker) {
  return {worker.turn, worker.in_long_pass, worker.last_dealt};
}

std::optional<Slot> PickFirst(const View& view, ReceivingCpu) { return view.FirstEligible(); }

constexpr Policy kPolicies[] = {
    {"least-loaded", ByLoad, PickFirst},
    {"round-robin", ByTurn, PickFirst},
};

}  // namespace

std::span<const Policy> Policies() { return kPolicies; }

const Policy* FindPolicy(std::string_view name) {
  for (const Policy& policy : kPolicies) {
    if (name == policy.name) return &policy;
  }
  return nullptr;
}

}  // namespace ringdeal
