// O_NONBLOCK of a listening socket, which belongs to everybody who has the socket. ringdeal sets
// it, and the kernel remembers that this was not the program's wish: a program that is given the
// socket over exec, and counts on accept to block, is told from one that does not. Any thread,
// signal handlers too.
#pragma once

#include "protocol/result.h"

namespace ringdeal {

// The status flags of the socket, with O_NONBLOCK only if its programs want it, as far as can be
// told.
Result<int> StatusFlagsWanted(int listener);

// Makes the listener non-blocking. Returns what StatusFlagsWanted did before.
Result<int> MakeListenerNonBlocking(int listener);

}  // namespace ringdeal
