#include "client-shim/preload/slices.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "client-shim/client/page_writer.h"
#include "client-shim/preload/joining.h"
#include "client-shim/preload/listener.h"

namespace ringdeal::shim {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kAsGoodAsNoEnd = 1'000'000'000;  // s
constexpr uint64_t kNever = UINT64_MAX;

int64_t FromParts(int64_t seconds, int64_t nanoseconds) {
  if (seconds < 0 || nanoseconds < 0 || nanoseconds >= kSecond) return kInOnePiece;
  return seconds < kAsGoodAsNoEnd ? seconds * kSecond + nanoseconds : kNoEnd;
}

template <typename Act>
void ForEach(unsigned watched, Act act) {
  for (; watched != 0; watched &= watched - 1) act(listeners::At(std::countr_zero(watched)));
}

// Rounded up: a wait is never shorter than was asked for.
int Milliseconds(const timespec* time) {
  if (time == nullptr) return -1;
  const int64_t ms = time->tv_sec * int64_t{1000} + (time->tv_nsec + 999'999) / 1'000'000;
  return static_cast<int>(std::min<int64_t>(ms, INT32_MAX));
}

}  // namespace

int64_t Nanoseconds(int milliseconds) {
  return milliseconds < 0 ? kNoEnd : milliseconds * int64_t{1'000'000};
}

int64_t Nanoseconds(const timespec* timeout) {
  return timeout == nullptr ? kNoEnd : FromParts(timeout->tv_sec, timeout->tv_nsec);
}

int64_t Nanoseconds(const timeval* timeout) {
  return timeout == nullptr ? kNoEnd : FromParts(timeout->tv_sec, timeout->tv_usec * int64_t{1000});
}

bool AnyLooks(unsigned watched) {
  bool looks = false;
  ForEach(watched, [&](Listener* each) { looks |= each->member.next_look() != 0; });
  return looks;
}

Slices::Slices(unsigned watched, int64_t timeout_ns, const sigset_t* mask)
    : watched_(watched),
      deadline_(timeout_ns < 0 ? kNever : client::Now() + static_cast<uint64_t>(timeout_ns)) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &own_mask_);
  mask_ = mask != nullptr ? mask : &own_mask_;
}

Slices::~Slices() {
  const int saved_errno = errno;
  sigprocmask(SIG_SETMASK, &own_mask_, nullptr);
  errno = saved_errno;
}

const timespec* Slices::Next() {
  uint64_t end = deadline_;
  ForEach(watched_, [&](Listener* each) {
    LookForRingdeald(each);
    const uint64_t next = each->member.next_look();
    if (next != 0) end = std::min(end, next);
  });
  if (end == kNever) return nullptr;
  const uint64_t now = client::Now();
  const uint64_t left = end > now ? end - now : 0;
  slice_.tv_sec = static_cast<time_t>(left / kSecond);
  slice_.tv_nsec = static_cast<long>(left % kSecond);
  return &slice_;
}

bool Slices::GoOn(int result) const {
  return result == 0 && (deadline_ == kNever || client::Now() < deadline_);
}

int EpollSlice::operator()(const timespec* time, const sigset_t* mask) const {
  return real::epoll_pwait(set, events, count, Milliseconds(time), mask);
}

// Reckoned before the end of the slices is, so that nothing is left when that has come.
SelectSlice::SelectSlice(int count, fd_set* in, fd_set* out, fd_set* except, timeval* left)
    : count_(count),
      sets_{in, out, except},
      left_(left),
      end_(left != nullptr ? client::Now() + static_cast<uint64_t>(Nanoseconds(left)) : 0) {}

int SelectSlice::operator()(const timespec* time, const sigset_t* mask) {
  const size_t bytes =
      (static_cast<size_t>(count_) + __NFDBITS - 1) / __NFDBITS * sizeof(__fd_mask);
  for (int i = 0; i < 3; ++i) {
    if (sets_[i] == nullptr) continue;
    copied_ ? std::memcpy(sets_[i], copies_[i], bytes) : std::memcpy(copies_[i], sets_[i], bytes);
  }
  copied_ = true;
  const int result = real::pselect(count_, sets_[0], sets_[1], sets_[2], time, mask);
  if (left_ == nullptr || Nanoseconds(left_) < 0) return result;
  const uint64_t now = client::Now();
  const uint64_t left = end_ > now ? end_ - now : 0;
  left_->tv_sec = static_cast<time_t>(left / kSecond);
  left_->tv_usec = static_cast<suseconds_t>(left % kSecond / 1000);
  return result;
}

}  // namespace ringdeal::shim
