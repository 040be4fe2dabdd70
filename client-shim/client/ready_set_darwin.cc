#include <fcntl.h>
#include <sys/event.h>
#include <unistd.h>

#include <cerrno>

#include "client-shim/client/ready_set.h"

namespace ringdeal::client {
namespace {

bool Change(int set, int descriptor, int16_t filter, uint16_t flags, uint32_t filter_flags) {
  const int saved_errno = errno;
  struct kevent change;
  EV_SET(&change, static_cast<uintptr_t>(descriptor), filter, flags, filter_flags, 0, nullptr);
  const bool changed = kevent(set, &change, 1, nullptr, 0, nullptr) == 0;
  errno = saved_errno;
  return changed;
}

}  // namespace

Result<UniqueFd> CreateReadySet() {
  UniqueFd set(kqueue());
  if (!set) return SystemError{errno, "kqueue"};
  sys::Control(set.get(), F_SETFD, FD_CLOEXEC);
  return set;
}

void AddToReadySet(int set, int descriptor) { Change(set, descriptor, EVFILT_READ, EV_ADD, 0); }

bool AddListenerToReadySet(int set, int listener) {
  return Change(set, listener, EVFILT_READ, EV_ADD, 0);
}

bool RemoveFromReadySet(int set, int descriptor) {
  return Change(set, descriptor, EVFILT_READ, EV_DELETE, 0);
}

int WakeReadySet(int set) {
  Change(set, 0, EVFILT_USER, EV_ADD, 0);
  Change(set, 0, EVFILT_USER, 0, NOTE_TRIGGER);
  return -1;
}

int WaitOnReadySet(int set, int timeout_ms) {
  pollfd watched = {set, POLLIN, 0};
  return sys::Poll(&watched, 1, timeout_ms);
}

}  // namespace ringdeal::client
