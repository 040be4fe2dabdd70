// Pairs of connected AF_UNIX sockets, close-on-exec. Any thread, signal handlers too.
#pragma once

#include "protocol/result.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

struct SocketPair {
  UniqueFd first;
  UniqueFd second;
};

// Keeps the bounds of messages and tells the end of the other side (SOCK_SEQPACKET; SOCK_DGRAM on
// macOS): channels and doors.
Result<SocketPair> MakeMessagePair();

// A byte stream: control connections made by a worker.
Result<SocketPair> MakeStreamPair();

}  // namespace ringdeal
