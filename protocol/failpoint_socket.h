// How a process that is held at a failpoint tells a test so, and is let go on by it. In test builds
// only. Any thread, signal handlers too.
#pragma once

namespace ringdeal {

// Sends the name and a line's end to the socket at `path`, and waits until anything comes back or
// it ends. What is missing at the other end lets the process go on.
void WaitAtFailpointSocket(const char* path, const char* name);

}  // namespace ringdeal
