// Accepts on the sockets of one listener: accept one, deal one. Acceptor thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "daemon/accepting/accept_gate.h"
#include "daemon/accepting/accept_rate.h"
#include "daemon/accepting/listener.h"
#include "daemon/operating/event_loop.h"
#include "protocol/socket_address.h"

namespace ringdeal {

// What an intake tells the control thread; callable from the acceptor thread.
struct IntakeCallbacks {
  std::function<void()> watch_gate;  // the gate was entered and nobody watches it
  std::function<void(const std::shared_ptr<Listener>&)> errands;  // the dealer has some
  // The listener's socket can never accept again.
  std::function<void(const std::shared_ptr<Listener>&, int error_number)> failed;
};

class Intake {
 public:
  Intake(std::shared_ptr<Listener> listener, EventLoop* loop, AcceptGate* gate,
         const IntakeCallbacks* callbacks);

  // Watches the sockets that the listener has, as given: the listener's own list belongs to the
  // control thread.
  void WatchSocket(int socket);
  // Something changed: looks whether somebody may be given a connection, and goes on.
  void Resume();
  // Accepts no more. What is kept is still dealt, by Resume.
  void Stop();

 private:
  struct Source {
    int socket;
    SocketAddress address;  // to be restored if somebody shuts the socket down
    std::unique_ptr<EventLoop::Watch> watch;
  };

  void Accept(const Source& source);
  bool MayAccept(uint64_t now_ns);
  uint64_t WaitForRate(uint64_t now_ns) const {
    return rate_.WaitNs(config_->max_accept_rate, now_ns);
  }
  // Both return false if this round is over.
  bool AcceptOne(const Source& source, uint64_t now_ns);
  bool AcceptInGate(const Source& source, uint64_t now_ns);
  bool HandleError(const Source& source, int error_number);
  void RunErrands();
  void Suspend(IntakeState state, uint64_t delay_ns);
  void Pause();
  void SetWatching(bool watching);
  void PutServedLast();
  void Enter(IntakeState state, uint64_t now_ns);
  bool LeavesToWorker() const;

  const std::shared_ptr<Listener> listener_;
  std::shared_ptr<const ListenerConfig> config_;  // of the listener, as of the last Resume
  EventLoop* const loop_;
  AcceptGate* const gate_;
  const IntakeCallbacks* const callbacks_;
  // In the order in which they are asked once there is a free place or a token.
  std::vector<std::unique_ptr<Source>> sources_;
  const Source* served_ = nullptr;  // the last one of which a connection was accepted
  std::unique_ptr<EventLoop::Watch> timer_;
  uint64_t pause_ns_ = 0;  // the length of the last pause, 0 after a success
  uint64_t state_began_ns_ = 0;
  AcceptRate rate_;
  bool watching_ = true;
  bool stopped_ = false;
  int empty_rounds_ = 0;  // rounds in a row that found nothing to accept
};

}  // namespace ringdeal
