// Whether a TCP listener answers clients that it does not know yet. ringdeald turns them away while
// it closes a listener; whoever goes on with the listener after a ringdeald that came to no end
// lets them in again. Any thread, signal handlers too; errno is kept.
#pragma once

namespace ringdeal {

// From now on nobody connects, who has begun to is let through. A TCP client that comes later is
// not answered, and tries again a second later. Where the kernel cannot do that, nothing happens.
void TurnNewClientsAway(int listener);

// Takes that back if it was done, and nothing else: a filter of somebody else stays.
void LetNewClientsIn(int listener);

}  // namespace ringdeal
