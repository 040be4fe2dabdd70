#include <csignal>

#include "cli/signal_queue.h"

namespace ringdeal {

SignalQueue::Signal SignalQueue::Next() const {
  siginfo_t facts = {};
  int number = -1;
  while (number < 0) number = sigwaitinfo(&taken_, &facts);  // EINTR: stopped and continued
  return {number, facts.si_code == SI_KERNEL};
}

}  // namespace ringdeal
