// Errors as values, for code that may neither throw nor allocate. Any thread.
#pragma once

#include <utility>

namespace ringdeal {

// What the kernel refused: the errno and the step that met it. `step` is a string literal.
struct SystemError {
  int number = 0;
  const char* step = "";
};

// A value or an error, never both. T and E must be default-constructible, so that no exception and
// no C++ runtime is needed: the shim links this into C programs.
template <typename T, typename E = SystemError>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)), ok_(true) {}   // NOLINT(google-explicit-constructor)
  Result(E error) : error_(std::move(error)), ok_(false) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return ok_; }
  bool ok() const { return ok_; }

  // REQUIRES: ok()
  T& value() & { return value_; }
  const T& value() const& { return value_; }
  T&& value() && { return std::move(value_); }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }

  // REQUIRES: !ok()
  const E& error() const { return error_; }

 private:
  T value_{};
  E error_{};
  bool ok_;
};

// Success without a value.
template <typename E>
class [[nodiscard]] Result<void, E> {
 public:
  Result() = default;
  Result(E error) : error_(std::move(error)), ok_(false) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return ok_; }
  bool ok() const { return ok_; }

  // REQUIRES: !ok()
  const E& error() const { return error_; }

 private:
  E error_{};
  bool ok_ = true;
};

}  // namespace ringdeal
