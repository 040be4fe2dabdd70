// Taking one frame out of a channel without ever losing the connection in it. Any thread, signal
// handlers too; never blocks.
#pragma once

#include "protocol/descriptor_passing.h"
#include "protocol/handoff_frame.h"
#include "protocol/unique_fd.h"

namespace ringdeal::client {

enum class Received {
  kConnection,
  kBell,     // a doorbell
  kNothing,  // the channel is empty
  kEnd,      // ringdeald is gone, or the channel was shut down
  kFull,     // no descriptor number is free; the connection is still in the channel
  kLost,     // as kFull, but the kernel has dropped the connection
  kBroken,   // not a frame; what came with it was closed
};

// With `careful`, a connection is looked at before it is taken, so that a process at its descriptor
// limit loses none: three system calls instead of one. One thread at a time may be careful on a
// channel.
Received ReceiveFrame(int channel, bool careful, OverExec over_exec, HandoffFrame* frame,
                      UniqueFd* connection);

// Blocks until a frame or the end is there, without taking it: with the restart, time-out and
// cancellation behaviour of accept. Returns 0, or -1 and errno.
int WaitForFrame(int channel);

// True if the end is what comes next: ringdeald is gone.
bool HasEnded(int channel);

}  // namespace ringdeal::client
