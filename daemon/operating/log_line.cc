#include "daemon/operating/log_line.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "daemon/observing/utf8.h"

namespace ringdeal {
namespace {

// syslog's numbers of err, warning, info and debug, from kDebug up.
constexpr int kPriorities[] = {7, 6, 4, 3};
constexpr std::string_view kLevelNames[] = {"debug", "info", "warn", "error"};

std::string FormatTime(std::chrono::system_clock::time_point time) {
  const auto since = time.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  const auto micros = std::chrono::floor<std::chrono::microseconds>(since - seconds);
  const time_t clock = static_cast<time_t>(seconds.count());
  tm parts = {};
  gmtime_r(&clock, &parts);
  char date[32];
  char text[48];
  std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text, sizeof(text), "%s.%06dZ", date, static_cast<int>(micros.count()));
  return text;
}

void AppendEscaped(char byte, std::string* out) {
  if (byte == '"' || byte == '\\') {
    *out += {'\\', byte};
  } else if (byte == '\n') {
    *out += "\\n";
  } else if (byte == '\t') {
    *out += "\\t";
  } else if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) {
    char escape[8];
    std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(byte));
    *out += escape;
  } else {
    *out += byte;
  }
}

// As JSON has it; logfmt readers know the same escapes.
void AppendQuoted(std::string_view text, std::string* out) {
  *out += '"';
  for (const char byte : ToUtf8(text)) AppendEscaped(byte, out);
  *out += '"';
}

// Whether logfmt can have it without quotes.
bool IsPlain(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char byte) {
    return byte > 0x20 && byte < 0x7f && byte != '"' && byte != '=' && byte != '\\';
  });
}

struct AppendValue {
  bool json;
  std::string* out;

  void operator()(std::string_view text) const {
    if (!json && IsPlain(text)) {
      *out += text;
    } else {
      AppendQuoted(text, out);
    }
  }
  void operator()(bool flag) const { *out += flag ? "true" : "false"; }
  void operator()(int64_t number) const { *out += std::to_string(number); }
  void operator()(uint64_t number) const { *out += std::to_string(number); }
  void operator()(double number) const {
    if (!std::isfinite(number)) return (*this)(std::string_view("not a number"));
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", number);
    *out += text;
  }
};

}  // namespace

std::string_view LevelName(LogLevel level) { return kLevelNames[static_cast<size_t>(level)]; }

std::string RenderLine(LineForm form, std::chrono::system_clock::time_point time, LogLevel level,
                       std::string_view event, std::span<const LogField> fields) {
  std::string line;
  if (form.priority) line = "<" + std::to_string(kPriorities[static_cast<size_t>(level)]) + ">";
  if (form.json) line += '{';
  bool first = true;
  const auto append = [&](const LogField& field) {
    if (!first) line += form.json ? ',' : ' ';
    first = false;
    if (form.json) {
      AppendQuoted(field.key, &line);
      line += ':';
    } else {
      (line += field.key) += '=';
    }
    std::visit(AppendValue{form.json, &line}, field.value);
  };
  append({"ts", FormatTime(time)});
  append({"level", LevelName(level)});
  append({"event", event});
  for (const LogField& field : fields) append(field);
  if (form.json) line += '}';
  return line;
}

}  // namespace ringdeal
