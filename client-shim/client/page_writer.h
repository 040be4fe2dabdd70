// What a worker writes into its page, in the order that ringdeald relies on (protocol/page.h). Any
// thread, signal handlers too.
#pragma once

#include "protocol/page.h"

namespace ringdeal::client {

// The calling thread is about to wait for connections: the end of a pass if none waited before.
// `control` gets the poke if ringdeald asked for one; -1: nobody to poke.
void EnterWait(Page* page, int control);
// It has come back: the beginning of a pass if none waits any more.
void LeaveWait(Page* page);

void SetState(Page* page, WorkerState state, int control);
void SetStyle(Page* page, bool one_at_a_time, int control);

// Whether connections are better handed over in non-blocking mode. Stores only what is new.
void SayNonBlocking(Page* page, bool nonblocking);

void CountTaken(Page* page);
void CountDirect(Page* page);
// Both answer true if ringdeald asked to hear of it, and Poke is to follow.
[[nodiscard]] bool CountClosed(Page* page, uint64_t connections);
[[nodiscard]] bool SetQueued(Page* page, uint32_t connections);
void CountRung(Page* page);

// Says over `control` that the worker became eligible; -1: nobody to poke. Never blocks, keeps
// errno.
[[gnu::cold]] void Poke(int control);

// CLOCK_MONOTONIC in nanoseconds, never 0.
uint64_t Now();

}  // namespace ringdeal::client
