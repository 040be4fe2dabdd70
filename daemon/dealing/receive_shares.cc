#include "daemon/dealing/receive_shares.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ringdeal {
namespace {

// Between shares that were measured of any number of connections.
constexpr double kLeastDrift = 0.03;
constexpr double kTimesChance = 2;

double Total(std::span<const Receiver> receivers) {
  double total = 0;
  for (const Receiver& receiver : receivers) total += receiver.share;
  return total > 0 ? total : 1;
}

}  // namespace

ReceiveShares::ReceiveShares(const Topology& topology, uint64_t half_life_ns, uint64_t now_ns)
    : counts_(static_cast<size_t>(topology.objects()[kAnywhere].cpus.back()) + 2),
      seen_(counts_.size()),
      weights_(counts_.size()),
      half_life_ns_(static_cast<double>(half_life_ns)),
      last_ns_(now_ns) {
  const std::vector<int>& cpus = topology.objects()[kAnywhere].cpus;
  for (const int cpu : cpus) {
    weights_[static_cast<size_t>(cpu) + 1] = kMemory / static_cast<double>(cpus.size());
  }
}

std::vector<Receiver> ReceiveShares::Shares(uint64_t now_ns) {
  const double half_lives = static_cast<double>(now_ns - last_ns_) / half_life_ns_;
  const double fading = std::max(std::exp2(-half_lives), std::min(1.0, kMemory / total_));
  last_ns_ = now_ns;
  total_ = 0;
  for (size_t index = 0; index < counts_.size(); ++index) {
    const uint64_t count = counts_[index].load(std::memory_order_relaxed);
    weights_[index] = weights_[index] * fading + static_cast<double>(count - seen_[index]);
    seen_[index] = count;
    total_ += weights_[index];
  }
  std::vector<Receiver> receivers;
  for (size_t index = 0; index < weights_.size(); ++index) {
    const double share = weights_[index] / total_;
    if (share >= kLeastShare) receivers.push_back({static_cast<ReceivingCpu>(index) - 1, share});
  }
  return receivers;
}

// Of connections that fade by half-lives, as many count as independent ones would as twice their
// weight. The mean drift between two such samples of the same shares is the sum below.
double ReceiveShares::WorthwhileDrift(std::span<const Receiver> shares) const {
  double by_chance = 0;
  for (const Receiver& each : shares) {
    by_chance += std::sqrt(each.share * (1 - each.share) / (2 * std::numbers::pi * total_));
  }
  return kLeastDrift + kTimesChance * by_chance;
}

double Drift(std::span<const Receiver> a, std::span<const Receiver> b) {
  const double total_a = Total(a), total_b = Total(b);
  double differences = 0;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    const bool from_a = right == b.end() || (left != a.end() && left->cpu <= right->cpu);
    const bool from_b = left == a.end() || (right != b.end() && right->cpu <= left->cpu);
    const double share_a = from_a ? left++->share / total_a : 0;
    const double share_b = from_b ? right++->share / total_b : 0;
    differences += std::abs(share_a - share_b);
  }
  return differences / 2;
}

}  // namespace ringdeal
