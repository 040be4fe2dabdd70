#include <sched.h>

#include "daemon/accepting/acceptor_scheduling.h"

namespace ringdeal {

void LetWorkersFinishTheirTurn() {
  if (sched_getscheduler(0) != SCHED_OTHER) return;
  const sched_param none = {};
  sched_setscheduler(0, SCHED_BATCH, &none);  // refused in some sandbox: only slower
}

}  // namespace ringdeal
