#include <fcntl.h>

#include <cerrno>
#include <csignal>

#include "protocol/nonblocking_listener.h"
#include "protocol/system_calls.h"

namespace ringdeal {
namespace {

// Chosen by F_SETSIG, which belongs to the socket as O_NONBLOCK does and survives exec. It says how
// to tell of input on a descriptor with O_ASYNC, where it means about the same as nothing chosen;
// on a listener nobody else chooses it.
constexpr int kMark = SIGIO;

}  // namespace

Result<int> StatusFlagsWanted(int listener) {
  const int flags = sys::Control(listener, F_GETFL, 0);
  if (flags < 0) return SystemError{errno, "F_GETFL"};
  const bool ours = (flags & O_NONBLOCK) != 0 && sys::Control(listener, F_GETSIG, 0) == kMark;
  return ours ? flags & ~O_NONBLOCK : flags;
}

Result<int> MakeListenerNonBlocking(int listener) {
  const Result<int> wanted = StatusFlagsWanted(listener);
  if (!wanted || (*wanted & O_NONBLOCK) != 0) return wanted;
  sys::Control(listener, F_SETSIG, kMark);
  if (sys::Control(listener, F_SETFL, *wanted | O_NONBLOCK) != 0) {
    return SystemError{errno, "F_SETFL"};
  }
  return wanted;
}

}  // namespace ringdeal
