#include "bench/processes.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ringdeal::bench {

void Die(const char* step) {
  std::fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, step, std::strerror(errno));
  std::exit(1);
}

bool MoveToCpu(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}

pid_t Spawn(int cpu, const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid < 0) Die("fork");
  if (pid > 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  MoveToCpu(cpu);
  _exit(body());
}

UniqueFd ListenOnLoopback(SocketAddress* address) {
  UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  ParseAddress("127.0.0.1:0", address);
  if (bind(listener.get(), address->get(), address->length) != 0) Die("bind");
  if (listen(listener.get(), 4096) != 0) Die("listen");
  LocalAddressOf(listener.get(), address);
  return listener;
}

}  // namespace ringdeal::bench
