// A thread that accepts on listeners and deals what it accepts. The public functions are for the
// control thread.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <thread>

#include "daemon/accepting/accept_gate.h"
#include "daemon/accepting/intake.h"
#include "daemon/accepting/listener.h"
#include "daemon/operating/event_loop.h"

namespace ringdeal {

class Acceptor {
 public:
  explicit Acceptor(IntakeCallbacks callbacks);
  // Ends the thread. What listeners keep stays theirs.
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Begins to accept on `socket`, one of the listener's.
  void Watch(const std::shared_ptr<Listener>& listener, int socket);
  // `done` is called on the acceptor thread, when it will touch the listener's sockets no more.
  void Forget(const std::shared_ptr<Listener>& listener, std::function<void()> done);
  // Accepts no more on this listener and goes on to deal what it keeps; `done` is called on the
  // acceptor thread.
  void StopAccepting(const std::shared_ptr<Listener>& listener, std::function<void()> done);
  // A worker may have become eligible.
  void Wake(const std::shared_ptr<Listener>& listener);
  // Accepts no more on any listener; `done` is called on the acceptor thread.
  void StopAccepting(std::function<void()> done);

  AcceptGate& gate() { return gate_; }
  // Breaks a system call that blocks: a signal without a restart.
  void Interrupt();

 private:
  IntakeCallbacks callbacks_;
  AcceptGate gate_;
  EventLoop loop_;
  std::map<const Listener*, std::unique_ptr<Intake>> intakes_;  // acceptor thread
  bool stopped_ = false;                                        // acceptor thread
  std::future<void> ended_;
  std::thread thread_;
};

}  // namespace ringdeal
