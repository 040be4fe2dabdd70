// Keeps a listener to its max_accept_rate: a bucket of tokens, one for each connection. Pure;
// acceptor thread.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ringdeal {

// The bucket holds so much of a second's connections, at least one: with that, a timer that is some
// milliseconds late costs no connection.
inline constexpr uint64_t kBurstPartOfSecond = 10;

class AcceptRate {
 public:
  // How long the next connection has to wait, 0 if it may be accepted. `per_second`: 0: no limit.
  uint64_t WaitNs(uint64_t per_second, uint64_t now_ns) const {
    if (per_second == 0) return 0;
    const uint64_t burst = std::max<uint64_t>(1, per_second / kBurstPartOfSecond);
    const uint64_t full_ns = (burst - 1) * IntervalNs(per_second);
    return paid_ns_ > now_ns + full_ns ? paid_ns_ - full_ns - now_ns : 0;
  }

  // One was accepted.
  void Take(uint64_t per_second, uint64_t now_ns) {
    if (per_second == 0) return;
    paid_ns_ = std::max(paid_ns_, now_ns) + IntervalNs(per_second);
  }

 private:
  // Rounded up: never more than per_second.
  static uint64_t IntervalNs(uint64_t per_second) {
    return (1'000'000'000 + per_second - 1) / per_second;
  }

  // When all that were accepted will have been paid for: the bucket is full from then on.
  uint64_t paid_ns_ = 0;
};

}  // namespace ringdeal
