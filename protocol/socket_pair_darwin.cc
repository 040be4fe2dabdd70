#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>

#include "protocol/socket_pair.h"

namespace ringdeal {
namespace {

Result<SocketPair> MakePair(int type) {
  int ends[2];
  if (socketpair(AF_UNIX, type, 0, ends) != 0) return SystemError{errno, "socketpair"};
  for (const int end : ends) sys::Control(end, F_SETFD, FD_CLOEXEC);
  return SocketPair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

// macOS has no AF_UNIX SOCK_SEQPACKET.
Result<SocketPair> MakeMessagePair() { return MakePair(SOCK_DGRAM); }

Result<SocketPair> MakeStreamPair() { return MakePair(SOCK_STREAM); }

}  // namespace ringdeal
