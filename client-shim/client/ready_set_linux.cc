#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <cerrno>

#include "client-shim/client/kernel_call_linux.h"
#include "client-shim/client/private_descriptor.h"
#include "client-shim/client/ready_set.h"

namespace ringdeal::client {
namespace {

// Not the C library's calls: of these the shim has its own, or others watch them.
// 0, or what the kernel says, negative.
long Change(int set, int operation, int descriptor, uint32_t events) {
  epoll_event event = {};
  event.events = events;
  event.data.fd = descriptor;
  return kernel::Call(SYS_epoll_ctl, set, operation, descriptor, kernel::AsLong(&event));
}

}  // namespace

Result<UniqueFd> CreateReadySet() {
  UniqueFd set(static_cast<int>(kernel::CallWithErrno(SYS_epoll_create1, EPOLL_CLOEXEC)));
  if (!set) return SystemError{errno, "epoll_create1"};
  return set;
}

void AddToReadySet(int set, int descriptor) { Change(set, EPOLL_CTL_ADD, descriptor, EPOLLIN); }

bool AddListenerToReadySet(int set, int listener) {
  const long changed = Change(set, EPOLL_CTL_ADD, listener, EPOLLIN | EPOLLEXCLUSIVE);
  return changed == 0 || changed == -EEXIST;
}

bool RemoveFromReadySet(int set, int descriptor) {
  return Change(set, EPOLL_CTL_DEL, descriptor, 0) == 0;
}

int WakeReadySet(int set) {
  // Out of the way: the program may count on the number that it has just closed.
  const int bell =
      Keep(UniqueFd(static_cast<int>(kernel::CallWithErrno(SYS_eventfd2, 1, EFD_CLOEXEC))));
  if (bell >= 0) AddToReadySet(set, bell);
  return bell;
}

int WaitOnReadySet(int set, int timeout_ms) {
  pollfd watched = {set, POLLIN, 0};
  return sys::Poll(&watched, 1, timeout_ms);
}

}  // namespace ringdeal::client
