// The clock that pages and timers are written in. Any thread.
#pragma once

#include <cstdint>
#include <ctime>

namespace ringdeal {

// CLOCK_MONOTONIC in ns: the same clock for every process of the machine.
inline uint64_t MonotonicNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace ringdeal
