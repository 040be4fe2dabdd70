// The descriptor that stands in a listening descriptor's place: readable when what is inside is.
// An epoll set on Linux, a kqueue on macOS; this file is the one that knows. What a program watches
// never changes, only the content does. Any thread, signal handlers too.
#pragma once

#include "protocol/result.h"
#include "protocol/unique_fd.h"

namespace ringdeal::client {

Result<UniqueFd> CreateReadySet();

// Adding what is inside, and removing what is not, is no error.
void AddToReadySet(int set, int descriptor);
// For a listener that other processes wait on too: wakes one of them where the kernel can.
// False if nobody will be woken for it: there is no room in the kernel, or the set is gone.
bool AddListenerToReadySet(int set, int listener);
// True if it was in the set.
bool RemoveFromReadySet(int set, int descriptor);

// Makes the set readable for good, so that everybody who waits on it looks again. Returns a
// private descriptor to discard together with the set, or -1.
int WakeReadySet(int set);

// Blocks until the set is readable or `timeout_ms` is over (-1: none). Returns 1, 0, or -1 and
// errno (EINTR always, also where a blocking accept would be restarted).
int WaitOnReadySet(int set, int timeout_ms);

}  // namespace ringdeal::client
