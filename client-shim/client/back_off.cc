#include "client-shim/client/back_off.h"

#include <algorithm>

namespace ringdeal::client {
namespace {

constexpr uint64_t kFirstAttempt = 100'000'000;
constexpr uint64_t kLongest = 1'000'000'000;
constexpr uint64_t kFirstLook = 10'000'000;
constexpr unsigned kDoublings = 4;  // more than lead from the first to the longest

// Neighbouring seeds, such as pids, come out far apart.
uint64_t Scatter(uint64_t seed) { return seed * 0x9e3779b97f4a7c15 >> 32; }

}  // namespace

uint64_t DelayOfAttempt(unsigned failures, uint64_t seed) {
  const uint64_t longest = std::min(kFirstAttempt << std::min(failures, kDoublings), kLongest);
  return longest - Scatter(seed) % (longest / 2);
}

uint64_t DelayOfLook(uint64_t waited) { return std::clamp(waited / 10, kFirstLook, kLongest); }

}  // namespace ringdeal::client
