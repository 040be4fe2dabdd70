#include "client-shim/preload/private_descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>

#include "client-shim/client/kernel_call_linux.h"
#include "client-shim/client/private_descriptor.h"
#include "client-shim/preload/connections.h"
#include "client-shim/preload/listener.h"

namespace ringdeal::shim {
namespace {

// The kernel's table of a process grows to its highest number, and fork copies it: a limit of
// millions is no reason to go there.
constexpr unsigned long kHighEnough = 8192;
constexpr unsigned long kRoom = 64;

// The first number to try; the limit is read each time, since programs change it.
unsigned long PreferredNumber() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 3;
  const unsigned long end = limit.rlim_cur < kHighEnough ? limit.rlim_cur : kHighEnough;
  return end > 2 * kRoom ? end - kRoom : 3;
}

int DuplicateHigh(int number) {
  for (unsigned long first = PreferredNumber();; first = first > 2 * kRoom ? first / 2 : 3) {
    const long result = kernel::Call(SYS_fcntl, number, F_DUPFD_CLOEXEC, static_cast<long>(first));
    if (result >= 0) return static_cast<int>(result);
    if (first == 3) return -1;
  }
}

void MarkPrivate(int number) {
  connections::Closed(table::Exchange(number, Entry{Kind::kPrivate, 0, 0}));
}

}  // namespace

void MoveAway(int number) {
  const int target = DuplicateHigh(number);
  if (target < 0) return;
  MarkPrivate(target);
  for (int i = 0; i < listeners::kMax; ++i) listeners::At(i)->member.Renumber(number, target);
  table::Exchange(number, Entry{});
}

}  // namespace ringdeal::shim

namespace ringdeal::client {

int Keep(UniqueFd descriptor) {
  if (!descriptor) return -1;
  const int saved_errno = errno;
  const int high = shim::DuplicateHigh(descriptor.get());
  // With no number left up there it stays where it is.
  const int number = high >= 0 ? high : descriptor.Release();
  shim::MarkPrivate(number);
  errno = saved_errno;
  return number;
}

void Discard(int number) {
  if (number < 0) return;
  shim::table::Exchange(number, shim::Entry{});
  UniqueFd closed_here(number);
}

}  // namespace ringdeal::client
