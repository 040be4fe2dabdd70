// The end of the owned listeners with `on_stop: close`: new clients are turned away, what waits is
// dealt, then the sockets are shut down for everybody who has them. Each listener by itself: one
// that is held keeps no other one open. Adopted listeners are their servers' own, and stay; those
// of a socket unit are the service manager's, which would take a shutdown for a failure. Control
// thread.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "daemon/accepting/listener_table.h"
#include "daemon/operating/event_loop.h"

namespace ringdeal {

class Closing {
 public:
  Closing(EventLoop* loop, ListenerTable* listeners);

  // Turns new clients away, closes each listener when nothing has waited there for kQuiet, or at
  // `deadline_ns`, and calls `done` when all are closed. REQUIRES: no worker accepts by itself from
  // now on.
  void Begin(uint64_t deadline_ns, std::function<void()> done);
  // Closes now what is not closed, whatever waits. True if there is something to close.
  bool Hurry();

  // A client that has been answered by the kernel finishes its handshake within this, if its round
  // trip is no longer.
  static constexpr std::chrono::milliseconds kQuiet{200};

 private:
  enum class Stage : uint8_t {
    kOpen,
    kStopping,  // its acceptor was told to accept no more: else it would make it listen again
    kEmptying,  // shut down; a UNIX socket still has what waited
    kClosed
  };
  struct Each {
    std::shared_ptr<Listener> listener;
    uint64_t waited_ns = 0;  // when something was last seen to wait
    Stage stage = Stage::kOpen;
  };

  void Look();
  void LookAt(Each* each, uint64_t now_ns);
  void Empty(Each* each, uint64_t now_ns, bool is_late);
  void StopAccepting(Each* each);
  void ShutDownSockets(Each* each);
  void Finish(Each* each);

  EventLoop* const loop_;
  ListenerTable* const listeners_;
  const std::unique_ptr<EventLoop::Watch> timer_;
  std::function<void()> done_;
  uint64_t deadline_ns_ = 0;
  std::vector<Each> all_;  // fixed once begun
};

}  // namespace ringdeal
