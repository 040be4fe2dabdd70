#include "daemon/dealing/policy.h"

#include "daemon/dealing/view.h"

namespace ringdeal {
namespace {

// By load with this connection, per weight; ties go to the one that waited longest, so they rotate.
Rank ByLoad(const WorkerView& worker) {
  return {(worker.load + 1) * kRankUnit / worker.weight, worker.last_dealt};
}

// In turn, a worker of weight 2 twice as often; ties as above.
Rank ByTurn(const WorkerView& worker) { return {worker.turn, worker.last_dealt}; }

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
