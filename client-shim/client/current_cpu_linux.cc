#include <sched.h>

#include "client-shim/client/current_cpu.h"

namespace ringdeal::client {

uint32_t CurrentCpu() { return static_cast<uint32_t>(sched_getcpu()); }

}  // namespace ringdeal::client
