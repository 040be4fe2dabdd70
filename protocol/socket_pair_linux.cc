#include <sys/socket.h>

#include <cerrno>

#include "protocol/socket_pair.h"
#include "protocol/system_calls.h"

namespace ringdeal {
namespace {

Result<SocketPair> MakePair(int type) {
  int ends[2];
  if (sys::SocketPair(AF_UNIX, type | SOCK_CLOEXEC, ends) != 0) {
    return SystemError{errno, "socketpair"};
  }
  return SocketPair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

Result<SocketPair> MakeMessagePair() { return MakePair(SOCK_SEQPACKET); }

Result<SocketPair> MakeStreamPair() { return MakePair(SOCK_STREAM); }

}  // namespace ringdeal
