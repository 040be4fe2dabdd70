#include "daemon/simulating/simulation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <queue>
#include <random>
#include <utility>

namespace ringdeal {
namespace {

constexpr uint64_t kSamples = 4096;

// The distributions of the standard library differ from one library to the next.
class Chance {
 public:
  explicit Chance(uint64_t seed) : random_(seed) {}

  // From 0 to below 1.
  double Uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double Exponential(double mean) { return -mean * std::log1p(-Uniform()); }
  double Pareto(double mean, double shape) {
    return mean * (shape - 1) / shape / std::pow(1 - Uniform(), 1 / shape);
  }
  // An index, as often as `sums` (of the weights, ascending) says.
  size_t Among(const std::vector<double>& sums) {
    return std::upper_bound(sums.begin(), sums.end() - 1, Uniform() * sums.back()) - sums.begin();
  }

 private:
  std::mt19937_64 random_;
};

template <typename Items, typename WeightOf>
std::vector<double> SumsOf(const Items& items, const WeightOf& weight_of) {
  std::vector<double> sums;
  for (const auto& item : items) {
    sums.push_back((sums.empty() ? 0 : sums.back()) + static_cast<double>(weight_of(item)));
  }
  return sums;
}

struct Departure {
  double time = 0;
  Slot slot = 0;
  bool operator>(const Departure& other) const { return time > other.time; }
};

class Run {
 public:
  Run(const Topology& topology, const SimulationRequest& request);
  SimulationResult Go();

 private:
  Slot PickFor(ReceivingCpu cpu);
  void Arrive();
  void DepartUntil(double time);
  double HoldingTime();
  void Sample();

  const SimulationRequest& request_;
  Chance chance_;
  View view_;
  std::vector<double> receiver_sums_;
  std::vector<double> worker_sums_;
  std::vector<uint64_t> dealt_;
  std::priority_queue<Departure, std::vector<Departure>, std::greater<>> open_;
  double now_ = 0;
  double spreads_ = 0;
  uint64_t samples_ = 0;
};

// Without a policy the view only keeps the books.
Run::Run(const Topology& topology, const SimulationRequest& request)
    : request_(request),
      chance_(request.seed),
      view_(request.policy != nullptr ? request.policy : FindPolicy("least-loaded"), request.rules),
      receiver_sums_(SumsOf(request.receivers, [](const Receiver& each) { return each.share; })),
      worker_sums_(
          SumsOf(request.workers, [](const SimulatedWorker& each) { return each.weight; })),
      dealt_(request.workers.size()) {
  std::vector<Seat> seats;
  std::vector<Claim> claims;
  for (Slot slot = 0; slot < request.workers.size(); ++slot) {
    const SimulatedWorker& worker = request.workers[slot];
    const Place place = topology.Covering(worker.cpus);
    view_.Add(slot, worker.weight);
    view_.Update(slot, 0, Standing::kEligible);
    seats.push_back({slot, place, worker.set});
    claims.push_back({slot, static_cast<double>(worker.weight), place});
  }
  auto deck = std::make_shared<const Deck>(Deck::Deal(topology, request.receivers, claims));
  Seats made(std::make_shared<const Topology>(topology), std::move(seats));
  view_.SetDeck(&deck, &made);
}

SimulationResult Run::Go() {
  const uint64_t apart = std::max<uint64_t>(1, request_.connections / kSamples);
  for (uint64_t number = 0; number < request_.connections; ++number) {
    now_ += chance_.Exponential(1 / request_.arrivals_per_second);
    DepartUntil(now_);
    Arrive();
    if (number % apart == 0 && number >= request_.connections / 5) Sample();
  }
  SimulationResult result;
  const auto total = static_cast<double>(request_.connections);
  for (Ring ring = 0; ring <= kFarthestRing; ++ring) {
    const auto count = static_cast<double>(view_.counts().by_ring[ring]);
    result.rings_percent[ring] = 100 * count / total;
  }
  for (Slot slot = 0; slot < dealt_.size(); ++slot) {
    const double due = total * request_.workers[slot].weight / worker_sums_.back();
    const double error = std::abs(static_cast<double>(dealt_[slot]) - due) / due;
    result.share_error_max_percent = std::max(result.share_error_max_percent, 100 * error);
    if (dealt_[slot] == 0) ++result.idle_workers;
  }
  if (samples_ > 0) result.active_spread_percent_of_mean = spreads_ / static_cast<double>(samples_);
  return result;
}

Slot Run::PickFor(ReceivingCpu cpu) {
  if (request_.policy == nullptr) return static_cast<Slot>(chance_.Among(worker_sums_));
  return *view_.Pick(cpu);
}

void Run::Arrive() {
  const ReceivingCpu cpu = request_.receivers[chance_.Among(receiver_sums_)].cpu;
  const Slot slot = PickFor(cpu);
  view_.Dealt(slot, cpu);
  ++dealt_[slot];
  open_.push({now_ + HoldingTime(), slot});
}

void Run::DepartUntil(double time) {
  while (!open_.empty() && open_.top().time <= time) {
    const Slot slot = open_.top().slot;
    view_.Update(slot, view_.worker(slot).load - 1, Standing::kEligible);
    open_.pop();
  }
}

double Run::HoldingTime() {
  const double mean = request_.mean_holding_seconds;
  switch (request_.holding) {
    case Holding::kConstant:
      return mean;
    case Holding::kExponential:
      return chance_.Exponential(mean);
    case Holding::kPareto:
      return chance_.Pareto(mean, request_.pareto_shape);
  }
  return mean;
}

void Run::Sample() {
  double least = std::numeric_limits<double>::max();
  double most = 0;
  for (const Slot slot : view_.members()) {
    const WorkerView& worker = view_.worker(slot);
    const double active = static_cast<double>(worker.load) / worker.weight;
    least = std::min(least, active);
    most = std::max(most, active);
  }
  const double mean = static_cast<double>(open_.size()) / worker_sums_.back();
  spreads_ += 100 * (most - least) / mean;
  ++samples_;
}

}  // namespace

std::optional<int> MissingCpu(const Topology& topology, const SimulationRequest& request) {
  for (const Receiver& receiver : request.receivers) {
    if (!topology.PlaceOf(receiver.cpu)) return receiver.cpu;
  }
  for (const SimulatedWorker& worker : request.workers) {
    for (const int cpu : worker.cpus) {
      if (!topology.PlaceOf(cpu)) return cpu;
    }
  }
  return std::nullopt;
}

SimulationResult Simulate(const Topology& topology, const SimulationRequest& request) {
  return Run(topology, request).Go();
}

}  // namespace ringdeal
