// When a member that is without ringdeald looks for it again. Pure; times in nanoseconds.
#pragma once

#include <cstdint>

namespace ringdeal::client {

// After `failures` attempts in a row: 100 ms at first, doubling to 1 s, less up to a half of it as
// `seed` says: the workers of a server shall not all come in the same moment.
uint64_t DelayOfAttempt(unsigned failures, uint64_t seed);

// How long not to look for an answer that has been awaited for `waited`: short at first, since a
// living ringdeald answers at once; in the end 1 s.
uint64_t DelayOfLook(uint64_t waited);

}  // namespace ringdeal::client
