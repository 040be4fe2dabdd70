#include "client-shim/client/current_cpu.h"

namespace ringdeal::client {

uint32_t CurrentCpu() { return UINT32_MAX; }

}  // namespace ringdeal::client
