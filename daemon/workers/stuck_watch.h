// Says which workers are stuck: in one pass for longer than stuck_after. Nothing is done to them.
// Control thread.
#pragma once

#include <memory>

#include "daemon/accepting/listener_table.h"
#include "daemon/operating/config.h"
#include "daemon/operating/event_loop.h"

namespace ringdeal {

class StuckWatch {
 public:
  StuckWatch(EventLoop* loop, const Config& config, const ListenerTable* listeners);

  // The configuration is another now. Looks at once.
  void Use(const Config& config);

 private:
  void Look();

  const ListenerTable* const listeners_;
  // The least stuck_after: a pass that begins after a look is not stuck before the next.
  uint64_t longest_rest_ns_;
  const std::unique_ptr<EventLoop::Watch> timer_;
};

}  // namespace ringdeal
