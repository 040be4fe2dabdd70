// What the kernel says of a worker's process. Control thread.
#pragma once

#include <sys/types.h>

namespace ringdeal {

// True if a thread of the process is running, or would be if the machine had a CPU for it. False if
// all sleep or are stopped, and if nothing is known.
bool IsRunnable(pid_t pid);

}  // namespace ringdeal
