// What the shim and the C API know of forks in ways of their own. Any thread, signal handlers too.
#pragma once

namespace ringdeal::client {

// If this process is a child that was forked since the last call, its members hear of it first
// (Member::AfterFork).
void NoticeFork();

}  // namespace ringdeal::client
