#include "daemon/accepting/accept_error.h"

#include <cerrno>

namespace ringdeal {
namespace {

struct KnownError {
  int number;
  const char* name;
  AcceptVerdict verdict;
};

// accept(2): Linux passes errors that are already pending on the new socket, which say nothing
// about the listener.
constexpr KnownError kKnownErrors[] = {
    {EAGAIN, "EAGAIN", AcceptVerdict::kEmpty},
    {EINTR, "EINTR", AcceptVerdict::kRetry},
    {ECONNABORTED, "ECONNABORTED", AcceptVerdict::kSkip},
    {EPROTO, "EPROTO", AcceptVerdict::kSkip},
    {EPERM, "EPERM", AcceptVerdict::kSkip},
    {ENETDOWN, "ENETDOWN", AcceptVerdict::kSkip},
    {ENOPROTOOPT, "ENOPROTOOPT", AcceptVerdict::kSkip},
    {EHOSTDOWN, "EHOSTDOWN", AcceptVerdict::kSkip},
    {EHOSTUNREACH, "EHOSTUNREACH", AcceptVerdict::kSkip},
    {ENETUNREACH, "ENETUNREACH", AcceptVerdict::kSkip},
    {ETIMEDOUT, "ETIMEDOUT", AcceptVerdict::kSkip},
    {EINVAL, "EINVAL", AcceptVerdict::kListenAgain},
    {EMFILE, "EMFILE", AcceptVerdict::kPause},
    {ENFILE, "ENFILE", AcceptVerdict::kPause},
    {ENOBUFS, "ENOBUFS", AcceptVerdict::kPause},
    {ENOMEM, "ENOMEM", AcceptVerdict::kPause},
    {EBADF, "EBADF", AcceptVerdict::kFatal},
};
static_assert(sizeof(kKnownErrors) / sizeof(kKnownErrors[0]) + 1 == kCountedAcceptErrors);

}  // namespace

AcceptVerdict ClassifyAcceptError(int error_number) {
  for (const KnownError& known : kKnownErrors) {
    if (known.number == error_number) return known.verdict;
  }
  if (error_number == EWOULDBLOCK) return AcceptVerdict::kEmpty;
  if (error_number == ENOTSOCK || error_number == EOPNOTSUPP || error_number == EFAULT) {
    return AcceptVerdict::kFatal;
  }
  // Unknown: neither spin on it nor give the listener up.
  return AcceptVerdict::kPause;
}

size_t AcceptErrorIndex(int error_number) {
  for (size_t i = 0; i + 1 < kCountedAcceptErrors; ++i) {
    if (kKnownErrors[i].number == error_number) return i;
  }
  return kCountedAcceptErrors - 1;
}

const char* AcceptErrorName(size_t index) {
  return index + 1 < kCountedAcceptErrors ? kKnownErrors[index].name : "other";
}

}  // namespace ringdeal
