// Named places in the code that runs in a worker's process, at which a test can hold it. Any
// thread, signal handlers too: nothing is allocated. Nothing is left of them unless
// RINGDEAL_FAILPOINTS is defined.
#pragma once

#ifdef RINGDEAL_FAILPOINTS

namespace ringdeal::client::failpoint {

// As ringdeald's (daemon/operating/failpoint.h), with the same two variables in the environment.
// They are looked for at the first passage, and read at each from then on if they were there. Keeps
// errno.
void Pass(const char* name);

// How long ringdeald is waited for: RINGDEAL_FAILPOINT_PATIENCE in the environment, as it was when
// it was asked for first, or what the shim has. One that a test plays may be slow for the machine's
// sake.
int Patience(int milliseconds);

}  // namespace ringdeal::client::failpoint

#define RINGDEAL_FAILPOINT(name) ::ringdeal::client::failpoint::Pass(name)
#define RINGDEAL_PATIENCE(milliseconds) ::ringdeal::client::failpoint::Patience(milliseconds)

#else

#define RINGDEAL_FAILPOINT(name) static_cast<void>(0)
#define RINGDEAL_PATIENCE(milliseconds) (milliseconds)

#endif
