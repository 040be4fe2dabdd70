#include <csignal>

#include "cli/signal_queue.h"

namespace ringdeal {

// The system does not say who sent it: what comes from the terminal is passed on once more.
SignalQueue::Signal SignalQueue::Next() const {
  int number = 0;
  while (sigwait(&taken_, &number) != 0) {
  }
  return {number, false};
}

}  // namespace ringdeal
