// The system calls of protocol/system_calls.h for the shim: past its own exports, and no
// cancellation points, so that nothing of the shim's is left half done. Those that may block are.
#include "protocol/system_calls.h"

#include <fcntl.h>
#include <poll.h>

#include "client-shim/client/kernel_call_linux.h"
#include "client-shim/preload/real_calls.h"

namespace ringdeal::sys {

int Close(int descriptor) { return static_cast<int>(kernel::CallWithErrno(SYS_close, descriptor)); }

int Socket(int domain, int type) {
  return static_cast<int>(kernel::CallWithErrno(SYS_socket, domain, type, 0));
}

int SocketPair(int domain, int type, int ends[2]) {
  return static_cast<int>(kernel::CallWithErrno(SYS_socketpair, domain, type, 0, ends));
}

int Connect(int socket, const sockaddr* address, socklen_t length) {
  return static_cast<int>(kernel::CallWithErrno(SYS_connect, socket, address, length));
}

int Poll(pollfd* descriptors, nfds_t count, int timeout_ms) {
  if (timeout_ms < 0) return shim::real::poll(descriptors, count, timeout_ms);
  timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
  return static_cast<int>(kernel::CallWithErrno(SYS_ppoll, descriptors, static_cast<long>(count),
                                                &timeout, nullptr, 0));
}

int GetSocketOption(int socket, int level, int name, void* value, socklen_t* length) {
  return static_cast<int>(
      kernel::CallWithErrno(SYS_getsockopt, socket, level, name, value, length));
}

int GetSocketName(int socket, sockaddr* address, socklen_t* length) {
  return static_cast<int>(kernel::CallWithErrno(SYS_getsockname, socket, address, length));
}

int Control(int descriptor, int command, int argument) {
  return static_cast<int>(kernel::CallWithErrno(SYS_fcntl, descriptor, command, argument));
}

ssize_t SendMessage(int socket, const msghdr* message, int flags) {
  return kernel::CallWithErrno(SYS_sendmsg, socket, message, flags);
}

ssize_t ReceiveMessage(int socket, msghdr* message, int flags) {
  if ((flags & MSG_DONTWAIT) == 0) return ::recvmsg(socket, message, flags);
  return kernel::CallWithErrno(SYS_recvmsg, socket, message, flags);
}

}  // namespace ringdeal::sys
