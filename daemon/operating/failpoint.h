// Named places in the code at which a test can hold the process or act, to force an interleaving.
// Any thread. Nothing is left of them unless RINGDEAL_FAILPOINTS is defined.
#pragma once

#ifdef RINGDEAL_FAILPOINTS

#include <functional>

namespace ringdeal::failpoint {

// Called at each passage of `name` until replaced; an empty handler removes it. A handler that is
// running meanwhile goes on.
void SetHandler(const char* name, std::function<void()> handler);

// From outside the process: with RINGDEAL_FAILPOINT_SOCKET (the path of a UNIX stream socket) and
// RINGDEAL_FAILPOINT_NAMES ("one,two") in the environment, a passage of one of the names connects,
// writes the name and a newline, and goes on after one byte or the end of the connection. Read at
// start; a test that changes its own environment reads it again.
void ReadEnvironment();

// Keeps errno.
void Pass(const char* name);

}  // namespace ringdeal::failpoint

#define RINGDEAL_FAILPOINT(name) ::ringdeal::failpoint::Pass(name)

#else

#define RINGDEAL_FAILPOINT(name) static_cast<void>(0)

#endif
