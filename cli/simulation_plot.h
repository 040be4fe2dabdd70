// A picture of simulated deals: how near, by policy, as bars. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace ringdeal {

// As docs/ring-deal.md explains them.
struct SimulatedDeal {
  std::string policy;
  std::array<double, 5> rings_percent = {};
  double share_error_max_percent = 0;
  double active_spread_percent_of_mean = 0;
  uint64_t idle_workers = 0;
};

// SVG that follows the reader's light or dark setting.
std::string PlotDeals(std::span<const SimulatedDeal> deals);

}  // namespace ringdeal
