// How much of its weight a worker counts with that has come less than slow_start ago: it grows with
// time, so that those who were there before do not leave it every new connection until it has as
// many as they. Pure; guarded by the dealer's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "daemon/dealing/worker_view.h"

namespace ringdeal {

class SlowStart {
 public:
  // What a worker begins with: its load, which is not nothing if it accepted by itself before, and
  // what would be its share of the others' load.
  struct Beginning {
    uint64_t load = 0;
    double due_load = 0;
  };

  bool HasBegun(Slot slot) const { return slot < began_ns_.size() && began_ns_[slot] != kNotYet; }
  // It may be dealt to, for the first time.
  void Begin(Slot slot, const Beginning& beginning, uint64_t slow_start_ns, uint64_t now_ns);
  // It is gone. Whoever has the slot next begins anew.
  void Forget(Slot slot);

  // The part of its weight, 1 to kWholePart, that a worker counts with now. REQUIRES: it has begun.
  uint32_t PartOf(Slot slot, uint64_t slow_start_ns, uint64_t now_ns) const;

  // A worker that has begun was looked at, and is dealt to now or later.
  void See(Slot slot);
  // All were looked at since the last call. If none of those that were seen counts whole, since
  // those that did have left, all become so much older that the oldest does: they have nobody to
  // spare them.
  void EndRound(uint64_t slow_start_ns, uint64_t now_ns);

 private:
  static constexpr int64_t kNotYet = std::numeric_limits<int64_t>::max();

  int64_t AgeOf(int64_t began_ns, uint64_t now_ns) const {
    return static_cast<int64_t>(now_ns) + older_ns_ - began_ns;
  }
  // The part of slow_start that it begins with behind it.
  double PartAtBeginning(const Beginning& beginning, uint64_t now_ns) const;

  std::vector<int64_t> began_ns_;  // by slot
  size_t begun_ = 0;
  uint64_t first_ns_ = 0;  // when the first of them all began
  int64_t older_ns_ = 0;   // what all became older by
  int64_t oldest_seen_ns_ = kNotYet;
};

}  // namespace ringdeal
