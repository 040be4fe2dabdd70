// The one owner of a descriptor, and the one place that closes one. Any thread, one at a time.
#pragma once

#include <cerrno>
#include <utility>

#include "protocol/system_calls.h"

namespace ringdeal {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int descriptor) : descriptor_(descriptor) {}
  UniqueFd(UniqueFd&& other) noexcept : descriptor_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    Reset(other.Release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { Reset(); }

  int get() const { return descriptor_; }
  bool valid() const { return descriptor_ >= 0; }
  explicit operator bool() const { return valid(); }

  // Gives the descriptor up; the caller owns it.
  [[nodiscard]] int Release() { return std::exchange(descriptor_, -1); }

  // Closes what is held and keeps errno. close() is not repeated after EINTR: on Linux the number
  // is free by then, and another thread may already have it.
  void Reset(int descriptor = -1) {
    const int old = std::exchange(descriptor_, descriptor);
    if (old < 0) return;
    const int saved_errno = errno;
    sys::Close(old);
    errno = saved_errno;
  }

 private:
  int descriptor_ = -1;
};

}  // namespace ringdeal
