// Takes listeners away from a ringdeald that goes on: nothing more is accepted on one, what is in
// hand and in channels is taken first, then its workers are left to themselves. Those that hold the
// listener go on with what waits in its accept queue. Control thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "daemon/accepting/listener_table.h"
#include "daemon/dealing/recall_thread.h"
#include "daemon/operating/config.h"
#include "daemon/operating/event_loop.h"
#include "daemon/operating/notebook.h"

namespace ringdeal {

class Retirement {
 public:
  using ListenerPtr = std::shared_ptr<Listener>;
  // Lets its workers go, with what their channels hold.
  using SendAway = std::function<void(const ListenerPtr&)>;

  Retirement(EventLoop* loop, const Config& config, ListenerTable* listeners, Notebook* notebook,
             const RecallThread* recall, SendAway send_away);

  // From now on nobody finds it, and who brings its socket brings one that is not known.
  void Begin(const ListenerPtr& listener);
  // The one of this socket, if connections of it wait for a worker: one that joins now is welcome.
  ListenerPtr FindInNeed(const SocketIdentity& identity) const;
  // Those that are still dealt from what is in hand.
  std::vector<ListenerPtr> leaving() const;

 private:
  struct Leaving {
    ListenerPtr listener;
    uint64_t deadline_ns = 0;
    bool stopped = false;  // the acceptor accepts nothing more
  };

  void NoteStopped(const ListenerPtr& listener);
  void Look();
  bool MayEnd(const Leaving& leaving, uint64_t now_ns) const;
  void AskTheDrained(const Leaving& leaving, uint64_t now_ns) const;
  void End(const ListenerPtr& listener);

  EventLoop* const loop_;
  const Config& config_;
  ListenerTable* const listeners_;
  Notebook* const notebook_;
  const RecallThread* const recall_;
  const SendAway send_away_;
  std::vector<Leaving> leaving_;
  std::unique_ptr<EventLoop::Watch> timer_;
};

}  // namespace ringdeal
