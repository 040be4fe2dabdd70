// The log: one line an event on standard error, in logfmt or JSON. Any thread, but it writes, and
// so can wait for whoever reads it: the threads that accept do not log. Library code does not
// either.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "daemon/operating/config.h"

namespace ringdeal {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

// One key with its value. Borrows texts: it lives as long as the call that it is passed to.
struct LogField {
  LogField(std::string_view name, std::string_view text) : key(name), value(text) {}
  LogField(std::string_view name, const char* text) : key(name), value(std::string_view(text)) {}
  LogField(std::string_view name, const std::string& text)
      : key(name), value(std::string_view(text)) {}
  LogField(std::string_view name, bool flag) : key(name), value(flag) {}
  LogField(std::string_view name, double number) : key(name), value(number) {}
  template <std::signed_integral Number>
  LogField(std::string_view name, Number number) : key(name), value(int64_t{number}) {}
  template <std::unsigned_integral Number>
  LogField(std::string_view name, Number number) : key(name), value(uint64_t{number}) {}

  std::string_view key;  // letters, digits, '_'
  std::variant<std::string_view, bool, double, int64_t, uint64_t> value;
};

// May be called again. Before it, lines are logfmt from kInfo on. Under
// systemd's journal (JOURNAL_STREAM names standard error) each line begins with its priority,
// "<6>".
void StartLog(const LogConfig& config);

// "debug", "info", "warn" or "error"; anything else changes nothing.
void SetLogLevel(std::string_view level);

// `event` is a constant, words joined with '_'. An event that repeats, for the same value of the
// field "listener", is left out for a while (log_repeats.h); then "left_out" says how many lines.
void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

}  // namespace ringdeal
