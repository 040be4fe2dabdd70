// Which process this is. A fork is noticed without a handler, by a page that the kernel wipes in
// the child; a vfork child shares its parent's memory, wiped page and all, and is told by its pid.
// Any thread, signal handlers too.
#pragma once

namespace ringdeal::shim {

// Called by the constructor. `after_fork` runs once in each forked child, in the first call that
// notices the fork.
void WatchForForks(void (*after_fork)());

// Takes note of a fork. Must come before anything reads or writes what belongs to one process. A
// load, unless there was a fork.
void NoticeFork();

// True in a vfork child, or anything else that shares our memory under another pid: such a process
// must leave every table alone. Notices a fork as well. A system call.
bool SharesOurMemory();

// The pid as it was noted, 0 before the constructor.
int OwnPid();

}  // namespace ringdeal::shim
