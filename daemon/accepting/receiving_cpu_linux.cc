#include <sys/socket.h>

#include "daemon/accepting/receiving_cpu.h"

namespace ringdeal {

bool TellsReceivingCpu(int listener) {
  int domain = AF_UNSPEC;
  socklen_t length = sizeof(domain);
  return getsockopt(listener, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain != AF_UNIX;
}

ReceivingCpu ReceivingCpuOf(int connection) {
  int cpu = -1;
  socklen_t length = sizeof(cpu);
  return getsockopt(connection, SOL_SOCKET, SO_INCOMING_CPU, &cpu, &length) == 0 ? cpu : -1;
}

}  // namespace ringdeal
