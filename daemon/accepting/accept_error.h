// What to do when accept4 fails. Pure.
#pragma once

#include <cstddef>

namespace ringdeal {

enum class AcceptVerdict {
  kEmpty,        // nothing waits
  kRetry,        // interrupted
  kSkip,         // this one connection is gone or refused, the next may do
  kListenAgain,  // somebody shut the listener down behind our back
  kPause,        // the machine or the process lacks something: wait, longer each time
  kFatal,        // this descriptor will never accept
};

AcceptVerdict ClassifyAcceptError(int error_number);

// The errnos that are counted by themselves, and a last entry for all others.
inline constexpr size_t kCountedAcceptErrors = 18;
size_t AcceptErrorIndex(int error_number);
const char* AcceptErrorName(size_t index);

}  // namespace ringdeal
