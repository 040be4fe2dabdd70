// Has a listener's only process accept by itself, once it has been the only one for a while, and
// looks whether that still is right. Control thread.
#pragma once

#include <map>
#include <memory>

#include "daemon/accepting/listener_table.h"
#include "daemon/operating/event_loop.h"

namespace ringdeal {

class DirectSwitch {
 public:
  using ListenerPtr = std::shared_ptr<Listener>;

  DirectSwitch(EventLoop* loop, ListenerTable* listeners) : loop_(loop), listeners_(listeners) {}

  // A process joined or left. A server that starts registers one worker after the other, so nothing
  // is decided before no other did so for kQuiet. A second process has ended direct mode already.
  void NoteChange(const ListenerPtr& listener);
  // Something else may have changed: the process was promoted, drained, or has acknowledged.
  void Look(const ListenerPtr& listener);
  // Ends direct mode everywhere, for good: ringdeald is about to end.
  void Stop();

  static constexpr std::chrono::milliseconds kQuiet{100};

 private:
  // Keeps no listener alive.
  struct Change {
    std::weak_ptr<Listener> listener;
    std::unique_ptr<EventLoop::Watch> timer;
    bool is_recent = false;
  };

  void Decide(const ListenerPtr& listener);

  EventLoop* const loop_;
  ListenerTable* const listeners_;
  // By what the listener's address was; those of listeners that are gone go with the next new one.
  std::map<const Listener*, Change> changes_;
  bool stopped_ = false;
};

}  // namespace ringdeal
