// The worker of the benchmark: takes each connection from its channel, closes it, and keeps its
// page as a worker with an event loop does. Runs as a process of its own, one thread.
#pragma once

#include "protocol/page.h"
#include "protocol/unique_fd.h"

namespace ringdeal::bench {

// Serves until the channel's other end is gone. `control`: where "ready" is said, -1 for nobody.
void ServeChannel(int channel, Page* page, int control);

// Joins the listener `name` of the ringdeald behind `control_path` and serves it. Returns an exit
// code.
int RunRingdealWorker(const char* control_path, const char* name);

// Connects to a control socket; an invalid descriptor if nobody listens there.
UniqueFd ConnectControl(const char* control_path);

}  // namespace ringdeal::bench
