// What ringdeald believes of one worker: the plain values that policies choose by. Guarded by the
// dealer's lock.
#pragma once

#include <compare>
#include <cstdint>

namespace ringdeal {

using Slot = uint32_t;

// May the worker be given a connection now?
enum class Standing : uint8_t {
  kEligible,  // yes
  kBusy,      // only if nobody is eligible: no progress for many times busy_after
  // no: observer, paused, draining, left, full, at its maximum, or no thread of it waits in accept
  kUnavailable,
};

// What a worker counts with its whole weight for.
inline constexpr uint32_t kWholePart = 1024;

struct WorkerView {
  Slot slot = 0;
  uint32_t weight = 1;
  uint32_t part = kWholePart;  // of its weight it counts with: less while it starts slowly
  uint64_t load = 0;           // active + pending + queued
  uint64_t turn = 0;           // grows with each connection dealt, by less the greater the weight
  uint64_t last_dealt = 0;     // number of the deal that it last had: ties go to the smallest
  Standing standing = Standing::kUnavailable;
  bool in_long_pass = false;  // no progress for busy_after: loses ties
};

// Workers are ordered by rank, smallest first.
struct Rank {
  uint64_t first = 0;
  bool in_long_pass = false;
  uint64_t turn = 0;
  uint64_t last_dealt = 0;

  friend auto operator<=>(const Rank&, const Rank&) = default;
};

// Fixed-point one, so that dividing by weights keeps the order of small loads.
inline constexpr uint64_t kRankUnit = uint64_t{1} << 20;

// What a connection moves the worker's turn on by.
inline uint64_t TurnOf(const WorkerView& worker) {
  return kRankUnit * kWholePart / (uint64_t{worker.weight} * worker.part);
}

}  // namespace ringdeal
