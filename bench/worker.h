// The worker of the benchmarks: takes each connection from its channel, closes it, and keeps its
// page as a worker with an event loop does. Runs as a process of its own, one thread.
#pragma once

#include <optional>

#include "protocol/handoff_frame.h"
#include "protocol/page.h"
#include "protocol/unique_fd.h"

namespace ringdeal::bench {

// What a worker has of the ringdeald that it joined. The control connection's end is its leaving.
struct Membership {
  UniqueFd control;
  UniqueFd channel;
  MappedPage page;
};

// Joins the listener `name` of the ringdeald behind `control_path`; says on stderr why it was
// refused.
std::optional<Membership> Join(const char* control_path, const char* name);

// Around a wait call: the page shows it, and ringdeald is poked if it wants to know. `control`:
// where "ready" is said, -1 for nobody.
void EnterWait(Page* page, int control);
void LeaveWait(Page* page);

// Takes what is in the channel, and closes each connection but those that `keeps` wants open for
// good. Returns false when the channel has ended.
bool TakeAll(int channel, Page* page, bool (*keeps)(const HandoffFrame&) = nullptr);

// Serves until the channel's other end is gone.
void ServeChannel(int channel, Page* page, int control);

// Joins and serves. Returns an exit code.
int RunRingdealWorker(const char* control_path, const char* name);

// Connects to a control socket; an invalid descriptor if nobody listens there.
UniqueFd ConnectControl(const char* control_path);

}  // namespace ringdeal::bench
