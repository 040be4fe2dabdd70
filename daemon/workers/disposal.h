// Closes what came from others on threads of its own. The last close of a socket with SO_LINGER, or
// of a file of a user's file system, can take as long as whoever made it likes. Thread-safe.
#pragma once

#include "protocol/unique_fd.h"

namespace ringdeal {

// Returns at once. A close that does not return costs a thread; when that many are stuck, what
// comes after waits and keeps its number, until nobody new is let in.
inline constexpr int kMostDisposalThreads = 16;

void Dispose(UniqueFd descriptor);

}  // namespace ringdeal
