#include "daemon/accepting/acceptor_scheduling.h"

namespace ringdeal {

// macOS has no class of threads that do not preempt.
void LetWorkersFinishTheirTurn() {}

}  // namespace ringdeal
