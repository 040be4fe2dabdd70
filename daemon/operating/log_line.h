// One line of the log, rendered. Pure. Any thread.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "daemon/operating/log.h"

namespace ringdeal {

struct LineForm {
  bool json = false;      // else logfmt
  bool priority = false;  // "<6>" in front, for the journal
};

std::string_view LevelName(LogLevel level);

// Without the line's end. Fields keep their order, after ts (UTC, microseconds), level and event.
// A text is one line whatever it holds: control characters are escaped, bytes that are no UTF-8
// become U+FFFD.
std::string RenderLine(LineForm form, std::chrono::system_clock::time_point time, LogLevel level,
                       std::string_view event, std::span<const LogField> fields);

}  // namespace ringdeal
