#include <fcntl.h>
#include <unistd.h>

#include "protocol/system_calls.h"

namespace ringdeal::sys {

int Close(int descriptor) { return ::close(descriptor); }

int Socket(int domain, int type) { return ::socket(domain, type, 0); }

int SocketPair(int domain, int type, int ends[2]) { return ::socketpair(domain, type, 0, ends); }

int Connect(int socket, const sockaddr* address, socklen_t length) {
  return ::connect(socket, address, length);
}

int Poll(pollfd* descriptors, nfds_t count, int timeout_ms) {
  return ::poll(descriptors, count, timeout_ms);
}

int GetSocketOption(int socket, int level, int name, void* value, socklen_t* length) {
  return ::getsockopt(socket, level, name, value, length);
}

int GetSocketName(int socket, sockaddr* address, socklen_t* length) {
  return ::getsockname(socket, address, length);
}

int Control(int descriptor, int command, int argument) {
  return ::fcntl(descriptor, command, argument);
}

ssize_t SendMessage(int socket, const msghdr* message, int flags) {
  return ::sendmsg(socket, message, flags);
}

ssize_t ReceiveMessage(int socket, msghdr* message, int flags) {
  return ::recvmsg(socket, message, flags);
}

}  // namespace ringdeal::sys
