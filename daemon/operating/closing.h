// The end of the owned listeners with `on_stop: close`: new clients are turned away, what waits is
// dealt, then the sockets are shut down for everybody who has them. Adopted listeners are their
// servers' own, and stay; those of a socket unit are the service manager's, which would take a
// shutdown for a failure. Control thread.
#pragma once

#include <functional>
#include <memory>

#include "daemon/accepting/listener_table.h"
#include "daemon/operating/event_loop.h"

namespace ringdeal {

class Closing {
 public:
  Closing(EventLoop* loop, ListenerTable* listeners);

  // Turns new clients away, and calls `done` when nothing has waited for kQuiet, or at
  // `deadline_ns`. REQUIRES: no worker accepts by itself from now on.
  void Begin(uint64_t deadline_ns, std::function<void()> done);
  bool begun() const { return done_ != nullptr; }

  // Shuts the sockets down, and has their dealers keep what still waited, where that can be.
  // REQUIRES: Begin was called, and nobody accepts any more, or nothing matters any more.
  void ShutDownAll();

  // A client that has been answered by the kernel finishes its handshake within this, if its round
  // trip is no longer.
  static constexpr std::chrono::milliseconds kQuiet{200};

 private:
  void Look();

  ListenerTable* const listeners_;
  const std::unique_ptr<EventLoop::Watch> timer_;
  std::function<void()> done_;
  uint64_t deadline_ns_ = 0;
  uint64_t waited_ns_ = 0;  // when something was last seen to wait
};

}  // namespace ringdeal
