// Where the shim's own descriptors live: high up, out of the program's way and reach. Any thread.
#pragma once

namespace ringdeal::shim {

// The program is about to put something else under this number, which is one of ours: ours moves
// away first.
void MoveAway(int number);

}  // namespace ringdeal::shim
