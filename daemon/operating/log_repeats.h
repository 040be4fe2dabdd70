// Keeps an event that repeats from filling the log. Pure: the clock is the caller's. Not locked.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace ringdeal {

// At most kMaxPerPeriod lines of one event of one listener in a period, which begins with the
// first.
class LogRepeats {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr uint64_t kMaxPerPeriod = 50;
  static constexpr std::chrono::seconds kPeriod{10};
  // Events that are remembered. When there are more, all are forgotten: too many lines rather than
  // too much memory.
  static constexpr size_t kMaxEvents = 1024;

  // Nothing if the line is to be left out, else how many were left out before it.
  std::optional<uint64_t> Admit(const std::string& event, const std::string& listener, Time now);

 private:
  struct Count {
    Time begin;
    uint64_t lines = 0;
    uint64_t left_out = 0;
  };
  std::map<std::pair<std::string, std::string>, Count> counts_;
};

}  // namespace ringdeal
