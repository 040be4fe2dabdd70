#include "daemon/dealing/slow_start.h"

#include <algorithm>

namespace ringdeal {
namespace {

// Workers of a server come together when it starts, and come back together when ringdeald does: who
// comes within so long of the first has nothing to grow to if there is hardly anything to catch up
// on.
constexpr uint64_t kTogetherNs = 2'000'000'000;
constexpr double kHardlyAnything = 4;

}  // namespace

void SlowStart::Begin(Slot slot, const Beginning& beginning, uint64_t slow_start_ns,
                      uint64_t now_ns) {
  if (slot >= began_ns_.size()) began_ns_.resize(slot + 1, kNotYet);
  if (begun_++ == 0) first_ns_ = now_ns;
  const double age = PartAtBeginning(beginning, now_ns) * static_cast<double>(slow_start_ns);
  began_ns_[slot] = static_cast<int64_t>(now_ns) + older_ns_ - static_cast<int64_t>(age);
}

double SlowStart::PartAtBeginning(const Beginning& beginning, uint64_t now_ns) const {
  if (begun_ == 1) return 1;
  const auto load = static_cast<double>(beginning.load);
  const bool together = now_ns < first_ns_ + kTogetherNs;
  if (together && beginning.due_load <= load + kHardlyAnything) return 1;
  return load > 0 ? std::min(1.0, load / beginning.due_load) : 0;
}

void SlowStart::Forget(Slot slot) {
  if (!HasBegun(slot)) return;
  if (oldest_seen_ns_ == began_ns_[slot]) oldest_seen_ns_ = kNotYet;
  began_ns_[slot] = kNotYet;
  --begun_;
}

uint32_t SlowStart::PartOf(Slot slot, uint64_t slow_start_ns, uint64_t now_ns) const {
  const int64_t age = AgeOf(began_ns_[slot], now_ns);
  if (slow_start_ns == 0 || age >= static_cast<int64_t>(slow_start_ns)) return kWholePart;
  const uint64_t part = static_cast<uint64_t>(std::max<int64_t>(0, age)) * kWholePart;
  return static_cast<uint32_t>(std::max<uint64_t>(1, part / slow_start_ns));
}

void SlowStart::See(Slot slot) { oldest_seen_ns_ = std::min(oldest_seen_ns_, began_ns_[slot]); }

void SlowStart::EndRound(uint64_t slow_start_ns, uint64_t now_ns) {
  if (oldest_seen_ns_ != kNotYet) {
    const int64_t lacks = static_cast<int64_t>(slow_start_ns) - AgeOf(oldest_seen_ns_, now_ns);
    older_ns_ += std::max<int64_t>(0, lacks);
  }
  oldest_seen_ns_ = kNotYet;
}

}  // namespace ringdeal
