// The kernel's own identity of a socket, equal across dup, fork, exec and descriptor passing. Any
// thread.
#pragma once

#include <cstdint>

#include "protocol/result.h"

namespace ringdeal {

struct SocketIdentity {
  uint64_t cookie = 0;   // unique among the sockets of the kernel
  uint64_t network = 0;  // the network namespace, 0 where the kernel does not say

  friend bool operator==(const SocketIdentity&, const SocketIdentity&) = default;
};

Result<SocketIdentity> IdentityOf(int socket);

// True if somebody shut the listening socket down: nothing will ever come to it again.
bool IsShutDown(int socket);

// True if the descriptor is a socket in the listening state.
bool IsListening(int socket);

}  // namespace ringdeal
