// Takes connections back out of channels: of workers that left or are draining, of observers that
// were rung in vain, of workers that do not come for what waits there. What is found goes to
// others. Control thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "daemon/accepting/listener_table.h"
#include "daemon/dealing/recall_thread.h"
#include "daemon/operating/event_loop.h"

namespace ringdeal {

class Recaller {
 public:
  using ListenerPtr = std::shared_ptr<Listener>;
  // Its worker kept a recall thread in the kernel, and is to be cut off.
  using CutOff = std::function<void(const ListenerPtr&, Slot)>;
  // To be done at each look while connections come.
  using Beside = std::function<void(const ListenerPtr&)>;
  // Every listener that has workers, those that are being taken away too.
  using All = std::function<std::vector<ListenerPtr>()>;

  Recaller(EventLoop* loop, ListenerTable* listeners, RecallThread* thread, CutOff cut_off,
           Beside beside, All all);

  // Empties a channel. `done` is called once, on the recall thread.
  void Empty(const ListenerPtr& listener, const ToEmpty& what, std::function<void()> done);

  // Connections were sent to workers of this listener: looks now and then whether they come for
  // them, for as long as something waits.
  void Watch(const ListenerPtr& listener);
  // Threads that a worker kept in the kernel for too long.
  uint64_t threads_abandoned() const { return abandoned_; }

 private:
  // Keeps no listener alive: one that is let go closes what it holds.
  struct WatchOfUntaken {
    std::weak_ptr<Listener> listener;
    std::unique_ptr<EventLoop::Watch> timer;
    int quiet_looks = 0;
  };

  void LookAtUntaken(WatchOfUntaken* watch);
  void Recall(const ListenerPtr& listener, const Dealer::OverdueWorker& worker);
  void LookAtThread();

  EventLoop* const loop_;
  ListenerTable* const listeners_;
  RecallThread* const thread_;
  const CutOff cut_off_worker_;
  const Beside beside_;
  const All all_;
  // By what the listener's address was; those of listeners that are gone go with the next new one.
  std::map<const Listener*, WatchOfUntaken> watches_;
  std::unique_ptr<EventLoop::Watch> thread_timer_;
  // Channels over which a recall thread was lost: one each is enough. The thread keeps them alive
  // for as long as it is stuck.
  std::set<std::weak_ptr<Channel>, std::owner_less<>> cut_off_;
  uint64_t abandoned_ = 0;
};

}  // namespace ringdeal
