#include "client-shim/client/accept_direct.h"
#include "protocol/system_calls.h"

namespace ringdeal::client {

int AcceptFrom(int listener, sockaddr* address, socklen_t* length, int flags) {
  const int number = accept(listener, address, length);
  if (number < 0) return -1;
  // Unlike on Linux, an accepted socket has the listener's O_NONBLOCK.
  sys::Control(number, F_SETFL, (flags & kAcceptNonBlocking) != 0 ? O_RDWR | O_NONBLOCK : O_RDWR);
  if ((flags & kAcceptCloseOnExec) != 0) sys::Control(number, F_SETFD, FD_CLOEXEC);
  return number;
}

}  // namespace ringdeal::client
