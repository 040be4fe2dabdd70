// The floor: an acceptor that does the system calls of a handoff and nothing else. Runs as a
// process of its own, one thread.
#pragma once

#include <span>

namespace ringdeal::bench {

// Accepts on the non-blocking `listener` and hands the connections to `channels` in turn, until a
// channel ends.
void RunFloorAcceptor(int listener, std::span<const int> channels);

}  // namespace ringdeal::bench
