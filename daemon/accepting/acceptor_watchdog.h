// Breaks an accept4 that blocks (rule 4 of the design). Control thread. Sleeps while the acceptors
// do.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "daemon/accepting/acceptor.h"
#include "daemon/operating/event_loop.h"

namespace ringdeal {

class AcceptorWatchdog {
 public:
  AcceptorWatchdog(EventLoop* loop, const std::vector<std::unique_ptr<Acceptor>>* acceptors);

  // An acceptor's gate was entered and nobody watches it.
  void Start();
  // Times that a blocked accept4 was broken.
  uint64_t unblocked() const { return unblocked_; }

 private:
  void Tick();
  bool Look(size_t index);

  struct Seen {
    uint64_t crossings = 0;
    int quiet_ticks = 0;
  };

  const std::vector<std::unique_ptr<Acceptor>>* const acceptors_;
  std::vector<Seen> seen_;
  std::unique_ptr<EventLoop::Watch> timer_;
  uint64_t unblocked_ = 0;
};

}  // namespace ringdeal
