// Tells the service manager that ringdeald is alive, as often as it wants to hear so
// (WatchdogSec=): a ringdeald that is frozen is then ended, and workers go on without it. Control
// thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "daemon/operating/event_loop.h"

namespace ringdeal {

// How often to beat: four times within what WATCHDOG_USEC allows, so that one late beat ends
// nobody. Nothing if the service manager does not ask this process.
std::optional<std::chrono::nanoseconds> HeartbeatInterval();

class Heartbeat {
 public:
  explicit Heartbeat(EventLoop* loop);

 private:
  void Beat();

  std::chrono::nanoseconds interval_{0};
  std::unique_ptr<EventLoop::Watch> timer_;  // none where nobody listens
};

}  // namespace ringdeal
