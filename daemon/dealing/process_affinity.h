// The CPUs on which the kernel lets a process run. Any thread.
#pragma once

#include <sys/types.h>

#include <vector>

namespace ringdeal {

// Of its first thread, in ascending order; empty if that is not known: no such process, a pid of 0
// (it is in another pid namespace), or a system that has no such thing.
std::vector<int> ProcessAffinity(pid_t pid);

// Those of them that are online, for the calling thread; in ascending order, empty if not known.
std::vector<int> UsableCpus();

}  // namespace ringdeal
