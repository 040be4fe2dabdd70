#include "daemon/accepting/receiving_cpu.h"

namespace ringdeal {

bool TellsReceivingCpu(int) { return false; }

ReceivingCpu ReceivingCpuOf(int) { return -1; }

}  // namespace ringdeal
