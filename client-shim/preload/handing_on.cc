#include "client-shim/preload/handing_on.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>

#include "client-shim/client/kernel_call_linux.h"
#include "client-shim/preload/listener.h"
#include "client-shim/preload/process.h"
#include "client-shim/preload/real_calls.h"
#include "protocol/socket_identity.h"

namespace ringdeal::shim {
namespace {

// The tables tell what is under a number; a vfork child has numbers of its own and the tables of
// its parent, so it is asked of the kernel: no epoll set takes itself.
bool IsUnder(int number, int ready_set) {
  return kernel::Call(SYS_epoll_ctl, ready_set, EPOLL_CTL_DEL, number) == -EINVAL;
}

bool IsSocketOf(const Listener* listener, int number) {
  const auto identity = IdentityOf(number);
  return identity && identity->cookie == listener->cookie.load();
}

void PauseAll(bool paused) {
  if (SharesOurMemory()) return;
  for (int i = 0; i < listeners::kMax; ++i) {
    Listener* listener = listeners::At(i);
    if (listener->member.page() == nullptr) continue;
    if (paused) listener->member.SetPaused(true);
    if (!paused) listener->ShowPause();
  }
}

}  // namespace

bool IsPassedOn(int number) {
  const int saved_errno = errno;
  const int flags = real::fcntl(number, F_GETFD);
  errno = saved_errno;
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

int SocketBehind(int number) {
  const Listener* listener = listeners::Of(table::Get(number));
  if (listener == nullptr || listener->member.ready_set() < 0) return -1;
  const int saved_errno = errno;
  const int socket = listener->member.listener();
  const bool is_behind =
      IsUnder(number, listener->member.ready_set()) && IsSocketOf(listener, socket);
  errno = saved_errno;
  return is_behind ? socket : -1;
}

SocketsGivenBack::SocketsGivenBack() {
  if (!listeners::Any()) return;
  const int saved_errno = errno;
  PauseAll(true);
  for (int number = 0; number < listeners::EndOfNumbers(); ++number) {
    const int socket = SocketBehind(number);
    if (socket >= 0 && IsPassedOn(number)) real::dup3(socket, number, 0);
  }
  errno = saved_errno;
}

SocketsGivenBack::~SocketsGivenBack() {
  if (!listeners::Any()) return;
  const int saved_errno = errno;
  for (int number = 0; number < listeners::EndOfNumbers(); ++number) {
    const Listener* listener = listeners::Of(table::Get(number));
    const int ready_set = listener != nullptr ? listener->member.ready_set() : -1;
    if (ready_set < 0 || !IsPassedOn(number) || !IsSocketOf(listener, number)) continue;
    real::dup3(ready_set, number, 0);
  }
  PauseAll(false);
  errno = saved_errno;
}

}  // namespace ringdeal::shim
