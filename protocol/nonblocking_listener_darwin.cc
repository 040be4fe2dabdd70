#include <fcntl.h>

#include <cerrno>

#include "protocol/nonblocking_listener.h"
#include "protocol/system_calls.h"

namespace ringdeal {

// There is no place for a mark: what is set counts as wanted.
Result<int> StatusFlagsWanted(int listener) {
  const int flags = sys::Control(listener, F_GETFL, 0);
  if (flags < 0) return SystemError{errno, "F_GETFL"};
  return flags;
}

Result<int> MakeListenerNonBlocking(int listener) {
  const Result<int> wanted = StatusFlagsWanted(listener);
  if (!wanted || (*wanted & O_NONBLOCK) != 0) return wanted;
  if (sys::Control(listener, F_SETFL, *wanted | O_NONBLOCK) != 0) {
    return SystemError{errno, "F_SETFL"};
  }
  return wanted;
}

}  // namespace ringdeal
