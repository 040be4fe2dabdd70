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

void Put(int descriptor, int number) { real::dup3(descriptor, number, 0); }

void PauseAll(bool paused) {
  if (SharesOurMemory()) return;
  for (int i = 0; i < listeners::kMax; ++i) {
    Listener* listener = listeners::At(i);
    if (listener->member.page() == nullptr) continue;
    listener->member.SetPaused(paused || listener->paused.load());
  }
}

// Calls `visit` for each number that an exec would pass on and that a ready set of ours may be
// under.
template <typename Visit>
void VisitInherited(Visit visit) {
  for (int number = 0; number < listeners::EndOfNumbers(); ++number) {
    const Listener* listener = listeners::Of(table::Get(number));
    if (listener == nullptr || listener->member.ready_set() < 0) continue;
    const int flags = real::fcntl(number, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) visit(number, listener);
  }
}

}  // namespace

SocketsGivenBack::SocketsGivenBack() {
  if (!listeners::Any()) return;
  const int saved_errno = errno;
  PauseAll(true);
  VisitInherited([](int number, const Listener* listener) {
    const client::Member& member = listener->member;
    if (IsUnder(number, member.ready_set()) && IsSocketOf(listener, member.listener())) {
      Put(member.listener(), number);
    }
  });
  errno = saved_errno;
}

SocketsGivenBack::~SocketsGivenBack() {
  if (!listeners::Any()) return;
  const int saved_errno = errno;
  VisitInherited([](int number, const Listener* listener) {
    if (IsSocketOf(listener, number)) Put(listener->member.ready_set(), number);
  });
  PauseAll(false);
  errno = saved_errno;
}

}  // namespace ringdeal::shim
