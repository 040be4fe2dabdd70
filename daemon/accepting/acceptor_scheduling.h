// How the kernel schedules the acceptor thread. On that thread.
#pragma once

namespace ringdeal {

// A connection that comes while every CPU is busy no longer interrupts a worker to be accepted: it
// waits until one of them has had its turn, and is accepted with those that came meanwhile. On a
// CPU that is free it is accepted as before. What an operator chose instead stays.
void LetWorkersFinishTheirTurn();

}  // namespace ringdeal
