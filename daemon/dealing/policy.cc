#include "daemon/dealing/policy.h"

#include <algorithm>

#include "daemon/dealing/view.h"

namespace ringdeal {
namespace {

// What a worker says beyond this, which no honest one does, must not come out as little.
constexpr uint64_t kMostLoad = uint64_t{1} << 42;

// By load with this connection, per weight. What counts with a part of its weight has so much more
// load; this connection is none of it, so that the first one waits for no time. A tie is lost by
// one in a long pass, and goes to the one that was dealt to longest ago, so that ties rotate. A
// long pass is no more than a tie-breaker here: on a busy machine every worker is now and then kept
// from running for some milliseconds, and passing it over then would leave the spread uneven for as
// long as the connections live.
Rank ByLoad(const WorkerView& worker) {
  const uint64_t load = std::min(worker.load, kMostLoad) * kWholePart / worker.part;
  return {.first = (std::min(load, kMostLoad) + 1) * kRankUnit / worker.weight,
          .in_long_pass = worker.in_long_pass,
          .last_dealt = worker.last_dealt};
}

// As above, and of equals the one that is owed the most goes first.
Rank ByLoadAndDebt(const WorkerView& worker) {
  Rank rank = ByLoad(worker);
  rank.turn = worker.turn;
  return rank;
}

// In turn, a worker of weight 2 twice as often; ties as above.
Rank ByTurn(const WorkerView& worker) {
  return {
      .first = worker.turn, .in_long_pass = worker.in_long_pass, .last_dealt = worker.last_dealt};
}

std::optional<Slot> PickFirst(const View& view, ReceivingCpu) { return view.FirstEligible(); }

// The next of the receiving CPU's row, unless the guard turns it away: then the nearest that the
// guard lets have it. It lets the least loaded always, so with workers there is one.
std::optional<Slot> PickByRow(const View& view, ReceivingCpu cpu) {
  const std::optional<Slot> next = view.NextOfRow(cpu);
  if (!next) return view.FirstEligible();
  if (view.IsEligible(*next) && view.IsWithinGuard(*next)) return next;
  return view.NearestWithinGuard(cpu);
}

// One of the receiving CPU's own workers, whatever its load; where none may claim it, the least
// loaded of all.
std::optional<Slot> PickClaimant(const View& view, ReceivingCpu cpu) {
  const std::optional<Slot> claimant = view.Claimant(cpu);
  return claimant ? claimant : view.FirstEligible();
}

constexpr Policy kPolicies[] = {
    {.name = "ring-deal",
     .by_place = true,
     .by_rows = true,
     .rank = ByLoadAndDebt,
     .pick = PickByRow},
    {.name = "least-loaded",
     .by_place = false,
     .by_rows = false,
     .rank = ByLoad,
     .pick = PickFirst},
    {.name = "round-robin", .by_place = false, .by_rows = false, .rank = ByTurn, .pick = PickFirst},
    {.name = "exact-claim",
     .by_place = true,
     .by_rows = false,
     .rank = ByLoad,
     .pick = PickClaimant},
};

}  // namespace

std::span<const Policy> Policies() { return kPolicies; }

std::vector<std::string_view> PolicyNames() {
  std::vector<std::string_view> names;
  for (const Policy& policy : kPolicies) names.push_back(policy.name);
  return names;
}

const Policy* FindPolicy(std::string_view name) {
  for (const Policy& policy : kPolicies) {
    if (name == policy.name) return &policy;
  }
  return nullptr;
}

}  // namespace ringdeal
