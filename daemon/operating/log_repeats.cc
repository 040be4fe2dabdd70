#include "daemon/operating/log_repeats.h"

namespace ringdeal {

std::optional<uint64_t> LogRepeats::Admit(const std::string& event, const std::string& listener,
                                          Time now) {
  auto found = counts_.find({event, listener});
  if (found == counts_.end()) {
    if (counts_.size() >= kMaxEvents) counts_.clear();
    found = counts_.emplace(std::pair(event, listener), Count{now, 0, 0}).first;
  }
  Count& count = found->second;
  if (now - count.begin >= kPeriod) {
    count.begin = now;
    count.lines = 0;
  }
  if (count.lines >= kMaxPerPeriod) {
    ++count.left_out;
    return {};
  }
  ++count.lines;
  return std::exchange(count.left_out, 0);
}

}  // namespace ringdeal
