// What benchmarks of several processes share: children on CPUs of their own, and listeners on
// loopback. What fails ends the process. Linux only.
#pragma once

#include <sys/types.h>

#include <functional>

#include "protocol/socket_address.h"
#include "protocol/unique_fd.h"

namespace ringdeal::bench {

// Says which step failed, with errno, and exits with 1.
[[noreturn]] void Die(const char* step);

// False if the process may not run there.
bool MoveToCpu(int cpu);

// A child that ends with this process. `body` runs on `cpu`, or where this process may run if that
// may not be had, and returns the exit code.
pid_t Spawn(int cpu, const std::function<int()>& body);

// Non-blocking, on a port that the kernel chose.
UniqueFd ListenOnLoopback(SocketAddress* address);

}  // namespace ringdeal::bench
