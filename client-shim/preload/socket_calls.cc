#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>

#include "client-shim/preload/joining.h"
#include "client-shim/preload/listener.h"
#include "client-shim/preload/process.h"
#include "client-shim/preload/slots.h"

namespace ringdeal::shim {

int RealNumber(int number) {
  const Listener* listener = listeners::Of(table::Get(number));
  const int real_one = listener != nullptr ? listener->member.listener() : -1;
  return real_one >= 0 ? real_one : number;
}

void MapIpv4(sockaddr* address, socklen_t room, socklen_t* length) {
  if (*length != sizeof(sockaddr_in) || room < sizeof(sockaddr_in)) return;
  sockaddr_in from;
  std::memcpy(&from, address, sizeof(from));
  if (from.sin_family != AF_INET) return;
  sockaddr_in6 to = {};
  to.sin6_family = AF_INET6;
  to.sin6_port = from.sin_port;
  to.sin6_addr.s6_addr[10] = to.sin6_addr.s6_addr[11] = 0xff;
  std::memcpy(&to.sin6_addr.s6_addr[12], &from.sin_addr, sizeof(from.sin_addr));
  std::memcpy(address, &to, room < sizeof(to) ? room : sizeof(to));
  *length = sizeof(to);
}

int GetName(int number, sockaddr* address, socklen_t* length) {
  const Listener* listener = listeners::Of(table::Get(number));
  const socklen_t room = listener != nullptr && length != nullptr ? *length : 0;
  const int result = real::getsockname(RealNumber(number), address, length);
  if (result == 0 && listener != nullptr && listener->maps_ipv4.load()) {
    MapIpv4(address, room, length);
  }
  return result;
}

int GetOption(int number, int level, int name, void* value, socklen_t* length) {
  const Listener* listener = listeners::Of(table::Get(number));
  if (listener != nullptr) {
    if (listener->options.Get(level, name, value, length)) return 0;
    const bool asks_whether_open = level == SOL_SOCKET && name == SO_ACCEPTCONN;
    if (asks_whether_open && listener->shut.load() && *length >= sizeof(int)) {
      std::memset(value, 0, sizeof(int));
      *length = sizeof(int);
      return 0;
    }
  }
  return real::getsockopt(RealNumber(number), level, name, value, length);
}

int SetOption(int number, int level, int name, const void* value, socklen_t length) {
  Listener* listener = listeners::Of(table::Get(number));
  const bool recorded =
      listener != nullptr && (listener->owned.load() || listener->member.ready_set() >= 0);
  if (!recorded) return real::setsockopt(number, level, name, value, length);
  // The kernel says whether there is such an option here.
  unsigned char ignored[OptionRecord::kValueBytes];
  socklen_t ignored_length = sizeof(ignored);
  const int saved_errno = errno;
  if (real::getsockopt(RealNumber(number), level, name, ignored, &ignored_length) != 0 &&
      (errno == ENOPROTOOPT || errno == EOPNOTSUPP)) {
    return -1;
  }
  errno = saved_errno;
  listener->options.Set(level, name, value, length);
  timeval timeout = {};
  if (level != SOL_SOCKET || name != SO_RCVTIMEO || value == nullptr) return 0;
  if (length < sizeof(timeout)) return 0;
  std::memcpy(&timeout, value, sizeof(timeout));
  return listener->member.SetReceiveTimeout(timeout);
}

int Shutdown(int number, int how) {
  Listener* listener = listeners::Of(table::Get(number));
  if (listener == nullptr || !listener->IsShared() || SharesOurMemory()) {
    return real::shutdown(number, how);
  }
  // The kernel lets the sending side of a listener be.
  if (how == SHUT_WR) return 0;
  if (how != SHUT_RD && how != SHUT_RDWR) {
    errno = EINVAL;
    return -1;
  }
  return ShutListener(listener);
}

int Connect(int number, const sockaddr* address, socklen_t length) {
  Listener* listener = listeners::Of(table::Get(number));
  if (listener == nullptr || !listener->IsShared() || length < sizeof(sa_family_t) ||
      address->sa_family != AF_UNSPEC) {
    return real::connect(number, address, length);
  }
  return ShutListener(listener);
}

int SetNonBlocking(int number, bool nonblocking) {
  Listener* listener = listeners::Of(table::Get(number));
  listener->flag_known.store(true);
  listener->nonblocking.store(nonblocking);
  listener->member.SetOneAtATime(!nonblocking);
  // Once others have the socket only what ringdeald wants anyway may reach it.
  const bool has_others = listener->owned.load() || listener->member.ready_set() >= 0 ||
                          (listener->member.has_door() && listener->listening.load());
  if (has_others) return 0;
  const int flags = real::fcntl(number, F_GETFL);
  const int wanted = nonblocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
  return wanted == flags ? 0 : real::fcntl(number, F_SETFL, static_cast<long>(wanted));
}

int IoControl(int number, unsigned long request, long argument) {
  const bool is_slot = table::Get(number).kind == Kind::kSlot;
  if (is_slot && request == FIONBIO && argument != 0) {
    return SetNonBlocking(number, *reinterpret_cast<const int*>(argument) != 0);
  }
  // Close-on-exec belongs to the number, everything else to the socket.
  const bool of_the_number = request == FIOCLEX || request == FIONCLEX;
  return real::ioctl(is_slot && !of_the_number ? RealNumber(number) : number, request, argument);
}

}  // namespace ringdeal::shim
