// One picture of `ringdeal top`: lines of text, from two looks at ringdeald's status. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/status_view.h"

namespace ringdeal {

struct Look {
  StatusView status;
  double seconds = 0;  // when, on any steady clock
};

struct TopView {
  size_t order = 0;  // index into TopOrders()
  bool reversed = false;
  size_t first_line = 0;  // of the listeners' lines: those above have been scrolled away
  // Of the terminal; 0: lines are as long and as many as there is to say.
  size_t width = 0;
  size_t height = 0;
  std::string trouble;  // why there was no new look; empty: there was
};

struct TopFrame {
  std::vector<std::string> lines;  // ASCII, but for names of others, and no control characters
  size_t last_first_line = 0;      // to scroll further shows nothing more
};

// What workers can be sorted by: the heads of columns. The first is the default; numbers are sorted
// greatest first, but for slot and pid.
std::span<const std::string_view> TopOrders();

TopFrame MakeTopFrame(const Look& before, const Look& now, const TopView& view);

}  // namespace ringdeal
