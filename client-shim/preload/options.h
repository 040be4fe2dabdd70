// The socket options that a program set on a listener which others have too: kept here, answered
// from here, and applied to what is accepted where accepted sockets would have inherited them. Any
// thread, signal handlers too; entries are only added, the newest of a name counts.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cstddef>

namespace ringdeal::shim {

class OptionRecord {
 public:
  static constexpr size_t kOptions = 24;  // more are accepted and forgotten
  static constexpr size_t kValueBytes = 16;

  void Set(int level, int name, const void* value, socklen_t length);
  // False if it was never set.
  bool Get(int level, int name, void* value, socklen_t* length) const;
  // What `from` has that `to` has not: for a listener that takes the place of the program's socket.
  void SetWhereDifferent(int from, int to);
  void ApplyTo(int connection) const;
  void CopyFrom(const OptionRecord& other);
  void Clear();

 private:
  struct Option {
    std::atomic<bool> ready{false};
    int level = 0;
    int name = 0;
    socklen_t length = 0;
    unsigned char value[kValueBytes] = {};
  };

  Option* Newest(int level, int name) const;

  std::atomic<size_t> count_{0};
  mutable Option options_[kOptions] = {};
};

}  // namespace ringdeal::shim
