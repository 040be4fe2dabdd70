// The signals that a supervisor takes one after the other instead of being interrupted by them.
// Main thread; one at a time.
#pragma once

#include <csignal>

namespace ringdeal {

class SignalQueue {
 public:
  struct Signal {
    int number = 0;
    // The terminal sent it, to every process of the foreground group: nobody need be told.
    bool from_terminal = false;
  };

  // From now on TERM, INT, HUP, QUIT, USR1, USR2, WINCH and CHLD wait to be taken.
  SignalQueue();
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  // Waits for the next one.
  Signal Next() const;

  // Everything as this process was started with: for a forked child, before it executes a program.
  void Restore() const;

 private:
  sigset_t taken_;
  sigset_t mask_before_;
  struct sigaction child_before_ = {};
  struct sigaction window_before_ = {};
};

}  // namespace ringdeal
