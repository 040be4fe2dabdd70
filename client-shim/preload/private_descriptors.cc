#include "client-shim/preload/private_descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

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

// A private descriptor's entry says which file it is: the lowest bits of the inode's number, which
// tell sockets from each other and from what else a program opens.
Entry EntryOf(int number) {
  struct stat status = {};
  if (fstat(number, &status) != 0) return {};
  return {Kind::kPrivate, static_cast<uint8_t>(status.st_ino),
          static_cast<uint16_t>(status.st_ino >> 8)};
}

void MarkPrivate(int number) { connections::Closed(table::Exchange(number, EntryOf(number))); }

}  // namespace

void MoveAway(int number) {
  if (!client::IsKept(number)) return;
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

bool IsKept(int number) {
  const int saved_errno = errno;
  const shim::Entry entry = shim::table::Get(number);
  const bool kept = entry.kind == shim::Kind::kPrivate && entry == shim::EntryOf(number);
  errno = saved_errno;
  return kept;
}

void Discard(int number) {
  if (number < 0) return;
  const bool kept = IsKept(number);
  const shim::Entry entry = shim::table::Get(number);
  if (entry.kind == shim::Kind::kPrivate) shim::table::Replace(number, entry, shim::Entry{});
  if (kept) UniqueFd closed_here(number);
}

}  // namespace ringdeal::client
