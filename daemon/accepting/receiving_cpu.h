// The CPU on which the kernel received a connection. Any thread.
#pragma once

#include "daemon/dealing/policy.h"

namespace ringdeal {

// Whether the kernel says so for the connections of this listening socket.
bool TellsReceivingCpu(int listener);

// -1: it does not.
ReceivingCpu ReceivingCpuOf(int connection);

}  // namespace ringdeal
