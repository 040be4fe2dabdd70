// A wait of the program in slices, for as long as a listener that it includes is without ringdeald:
// between them the thread looks for ringdeald, and the program notices nothing. Signals are held
// back between slices, so that one that comes there ends the next slice as it would have ended the
// wait. Any thread, signal handlers too.
#pragma once

#include <signal.h>
#include <sys/epoll.h>
#include <time.h>

#include <cstdint>

#include "client-shim/preload/real_calls.h"
#include "client-shim/preload/slots.h"

namespace ringdeal::shim {

// How long a wait may last, in nanoseconds, or one of these.
inline constexpr int64_t kNoEnd = -1;
inline constexpr int64_t kInOnePiece = -2;  // the kernel shall answer what the program asked

int64_t Nanoseconds(int milliseconds);
int64_t Nanoseconds(const timespec* timeout);
int64_t Nanoseconds(const timeval* timeout);

// True if one of these listeners, one bit each, is without ringdeald and to look for it.
bool AnyLooks(unsigned watched);

class Slices {
 public:
  // Of a wait on `watched` with the program's signal mask, null for the thread's own.
  Slices(unsigned watched, int64_t timeout_ns, const sigset_t* mask);
  ~Slices();
  Slices(const Slices&) = delete;
  Slices& operator=(const Slices&) = delete;

  // Looks for ringdeald where it is time. Returns how long the next slice may last, null for
  // without end; valid until the next call.
  const timespec* Next();
  // True if the wait goes on after a slice that returned this: its time is not over.
  bool GoOn(int result) const;
  const sigset_t* mask() const { return mask_; }

 private:
  const unsigned watched_;
  uint64_t deadline_;  // on the clock of Now(); UINT64_MAX: none
  timespec slice_ = {};
  sigset_t own_mask_;
  const sigset_t* mask_;
};

// One slice of each kind of wait.
struct EpollSlice {
  int operator()(const timespec* time, const sigset_t* mask) const;
  int set;
  epoll_event* events;
  int count;
};

struct PollSlice {
  int operator()(const timespec* time, const sigset_t* mask) const {
    return real::ppoll(descriptors, count, time, mask);
  }
  pollfd* descriptors;
  nfds_t count;
};

// A slice that ends empties the sets, so each begins with what the program asked for.
class SelectSlice {
 public:
  // Of a wait on more numbers no copy is made: in one piece.
  static constexpr int kMostNumbers = 4096;

  // `left`, if not null, is given the time that is left, as Linux does.
  SelectSlice(int count, fd_set* in, fd_set* out, fd_set* except, timeval* left);
  int operator()(const timespec* time, const sigset_t* mask);

 private:
  static constexpr int kWords = kMostNumbers / __NFDBITS;

  const int count_;
  fd_set* const sets_[3];
  timeval* const left_;
  const uint64_t end_;
  bool copied_ = false;
  __fd_mask copies_[3][kWords];
};

// Waits on `watched`: `whole` is the program's call, `slice` the same in slices.
template <typename Whole, typename Slice>
int Waiting(unsigned watched, int64_t timeout_ns, const sigset_t* mask, Whole whole, Slice slice) {
  if (watched == 0) return whole();
  WaitScope scope(watched);
  int result = 0;
  if (timeout_ns == kInOnePiece || !AnyLooks(watched)) {
    result = whole();
  } else {
    Slices slices(watched, timeout_ns, mask);
    do {
      const timespec* time = slices.Next();
      scope.Enter(watched);
      result = slice(time, slices.mask());
    } while (slices.GoOn(result));
  }
  if (result > 0) NoticeEnd(watched);
  return result;
}

}  // namespace ringdeal::shim
