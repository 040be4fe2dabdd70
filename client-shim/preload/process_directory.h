// What /proc/self/fdinfo says of the open descriptors, read with bare system calls: nothing is
// allocated and errno stays. Any thread, signal handlers too.
#pragma once

#include "client-shim/preload/listener.h"

namespace ringdeal::shim {

// Called with the name of each open descriptor, its number in digits, and the open directory.
// Answers whether to go on.
using Visit = bool (*)(void* context, const char* name, int directory);
// Visits nothing where /proc is not mounted.
void VisitDescriptors(Visit visit, void* context);

// True if an epoll set of this process watches a number of the listener, by whatever way it was
// added. Opens as many files as the process has open.
bool AnyEpollSetWatches(const Listener* listener);

}  // namespace ringdeal::shim
