#include "cli/signal_queue.h"

#include <csignal>
#include <initializer_list>

namespace ringdeal {

SignalQueue::SignalQueue() {
  sigemptyset(&taken_);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD}) {
    sigaddset(&taken_, number);
  }
  sigprocmask(SIG_BLOCK, &taken_, &mask_before_);
  // What is ignored need not wait although it is blocked, and an ignored SIGCHLD, which a parent
  // may leave behind, takes the status of a child with it.
  struct sigaction heeded = {};
  heeded.sa_handler = [](int) {};
  sigaction(SIGCHLD, &heeded, &child_before_);
  sigaction(SIGWINCH, &heeded, &window_before_);
}

SignalQueue::~SignalQueue() { Restore(); }

void SignalQueue::Restore() const {
  sigaction(SIGCHLD, &child_before_, nullptr);
  sigaction(SIGWINCH, &window_before_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

}  // namespace ringdeal
