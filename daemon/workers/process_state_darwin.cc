#include "daemon/workers/process_state.h"

namespace ringdeal {

// The states of another user's threads are not told.
bool IsRunnable(pid_t) { return false; }

}  // namespace ringdeal
