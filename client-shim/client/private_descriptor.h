// Descriptors that live in somebody's program without being the program's. Their numbers are read
// by any thread and by signal handlers, so they are plain atomics, closed when nobody can be using
// them any more.
#pragma once

#include <atomic>

#include "protocol/unique_fd.h"

namespace ringdeal::client {

// Where private descriptors live is the business of whoever links this: the shim moves them out of
// the program's reach, the C API leaves them where they are. Returns the number, -1 for none.
int Keep(UniqueFd descriptor);
// Closes what Keep returned, if it is still there; -1 is nothing.
void Discard(int number);
// True if what Keep put under `number` is still there: programs close, and use again, numbers that
// they do not know.
bool IsKept(int number);

class PrivateFd {
 public:
  int get() const { return number_.load(std::memory_order_acquire) - 1; }
  bool valid() const { return get() >= 0; }

  // The old number, if any, is the caller's to discard.
  [[nodiscard]] int Put(UniqueFd descriptor) { return Exchange(Keep(std::move(descriptor))); }
  [[nodiscard]] int Take() { return Exchange(-1); }
  // For the one who moves descriptors out of the program's way.
  bool Renumber(int from, int to) { return number_.compare_exchange_strong(++from, to + 1); }

 private:
  int Exchange(int number) { return number_.exchange(number + 1, std::memory_order_acq_rel) - 1; }

  std::atomic<int> number_{0};  // plus one, so that memory full of zeros holds none
};

}  // namespace ringdeal::client
