#include "daemon/operating/heartbeat.h"

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/operating/service_manager.h"

namespace ringdeal {
namespace {

constexpr int kBeats = 4;
constexpr uint64_t kMostMicroseconds = 24ULL * 3600 * 1'000'000;

std::optional<uint64_t> NumberOf(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::chrono::nanoseconds> HeartbeatInterval() {
  const auto allowed = NumberOf("WATCHDOG_USEC");
  if (!allowed || *allowed == 0 || *allowed > kMostMicroseconds) return std::nullopt;
  if (std::getenv("WATCHDOG_PID") != nullptr &&
      NumberOf("WATCHDOG_PID") != static_cast<uint64_t>(getpid())) {
    return std::nullopt;
  }
  return std::chrono::microseconds(*allowed) / kBeats;
}

Heartbeat::Heartbeat(EventLoop* loop) {
  const auto interval = HeartbeatInterval();
  if (!interval) return;
  interval_ = *interval;
  timer_ = loop->MakeTimer([this] { Beat(); });
  Beat();
}

void Heartbeat::Beat() {
  NotifyServiceManager("WATCHDOG=1");
  timer_->Arm(interval_);
}

}  // namespace ringdeal
