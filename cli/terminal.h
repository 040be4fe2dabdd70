// A terminal that shows whole pictures and gives keys, as it was before once this is gone. Main
// thread; one at a time.
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>
#include <vector>

namespace ringdeal {

class Terminal {
 public:
  enum class Event {
    kNone,  // nothing until the time was over
    kKey,
    kResized,
    kEnd,  // a signal, or nobody can press a key any more
  };

  // Takes over the terminal of standard output and input.
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // True if there is one to take over.
  static bool IsThere();

  size_t width() const { return width_; }
  size_t height() const { return height_; }

  void Show(const std::vector<std::string>& lines);
  Event Wait(double seconds);
  // After kKey: a letter, or "up", "down", "page up", "page down", "left", "right".
  const std::string& key() const { return key_; }

 private:
  void ReadSize();
  bool ReadKey();

  size_t width_ = 80;
  size_t height_ = 24;
  std::string key_;
  std::string input_;  // read, and not yet given as keys
  termios before_ = {};
};

}  // namespace ringdeal
