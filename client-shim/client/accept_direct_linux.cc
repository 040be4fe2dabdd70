#include "client-shim/client/accept_direct.h"
#include "client-shim/client/kernel_call_linux.h"

namespace ringdeal::client {

int AcceptFrom(int listener, sockaddr* address, socklen_t* length, int flags) {
  return static_cast<int>(kernel::CallWithErrno(SYS_accept4, listener, address, length, flags));
}

}  // namespace ringdeal::client
