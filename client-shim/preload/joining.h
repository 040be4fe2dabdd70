// When this process joins a listener, and how bind and listen come to ringdeald. Any thread; waits
// for ringdeald at most 100 ms, once in the life of a process and its children, and as long for
// each bind that would fail with EADDRINUSE.
#pragma once

#include <sys/socket.h>

#include "client-shim/preload/listener.h"

namespace ringdeal::shim {

enum class Interest {
  kWatch,   // added to an epoll set, polled, selected
  kAccept,  // accept was called
};

// Joins if this is the first interest of the process. Returns true if the slot is the shim's; false
// if `number` is to be used as if there were no shim.
bool ShowInterest(Listener* listener, int number, Interest interest);

// Before a wait: if the program has closed private descriptors of this joined listener, joins anew
// with what is left.
void LookAfter(Listener* listener);

// If the listener is without ringdeald and it is time to look for it, looks. Does not block.
void LookForRingdeald(Listener* listener);

// The program's bind and listen. -1 and errno as theirs.
int Bind(int number, const sockaddr* address, socklen_t length);
int Listen(int number, int backlog);

// shutdown, or connect to AF_UNSPEC, on a listener: it takes no connections until listen is called.
int ShutListener(Listener* listener);

}  // namespace ringdeal::shim
