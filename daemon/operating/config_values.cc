#include "daemon/operating/config_values.h"

#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "daemon/operating/config_principals.h"
#include "daemon/operating/config_spelling.h"
#include "protocol/socket_address.h"

namespace ringdeal {
namespace {

struct Unit {
  std::string_view name;
  int64_t nanoseconds;
};
// From the largest, so that FormatDuration finds the shortest text.
constexpr Unit kUnits[] = {{"h", 3'600'000'000'000},
                           {"min", 60'000'000'000},
                           {"s", 1'000'000'000},
                           {"ms", 1'000'000},
                           {"us", 1000},
                           {"ns", 1}};
constexpr char kUnitList[] = "ns, us, ms, s, min or h";

constexpr std::string_view kLogLevels[] = {"debug", "info", "warn", "error"};
constexpr std::string_view kLogFormats[] = {"logfmt", "json"};
constexpr std::string_view kCoverages[] = {"any", "all"};
constexpr std::string_view kWithoutWorker[] = {"hold", "reset"};
constexpr std::string_view kWaysToStop[] = {"direct", "close"};
constexpr size_t kMostDecimals = 3;
constexpr size_t kMaxName = 64;
constexpr size_t kMaxSocketPath = sizeof(sockaddr_un::sun_path) - 1;

bool IsDigit(char byte) { return byte >= '0' && byte <= '9'; }

// The whole of `text` in digits, without a sign. Nothing if it is another text or too large.
std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || !IsDigit(text[0])) return {};
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return {};
  return number;
}

ValueError NotInRange(const ConfigKey& key) {
  return {"is out of range; it may be " + RangeOf(key)};
}

Result<int64_t, ValueError> ParseCount(const ConfigKey& key, std::string_view text) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
  if (!digits) {
    return ValueError{"is no whole number; write " + std::string(key.unit) + " in digits, " +
                      RangeOf(key)};
  }
  const auto number = ParseNumber(text);
  if (!number || *number < key.least || *number > key.most) return NotInRange(key);
  return *number;
}

// Digits, and up to three more behind a point.
Result<double, ValueError> ParsePortion(const ConfigKey& key, std::string_view text) {
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view decimals = text.substr(std::min(point + 1, text.size()));
  const auto whole = ParseNumber(text.substr(0, point));
  const auto rest = decimals.empty() ? 0 : ParseNumber(decimals);
  const bool ends_well = point == text.size() || !decimals.empty();
  if (!whole || !rest || !ends_well || decimals.size() > kMostDecimals) {
    return ValueError{"is no number; write " + std::string(key.unit) + " such as 5 or 12.5, " +
                      RangeOf(key)};
  }
  const double number =
      static_cast<double>(*whole) +
      static_cast<double>(*rest) / std::pow(10, static_cast<double>(decimals.size()));
  if (number < static_cast<double>(key.least) || number > static_cast<double>(key.most)) {
    return NotInRange(key);
  }
  return number;
}

Result<Duration, ValueError> ParseDurationOf(const ConfigKey& key, std::string_view text) {
  auto duration = ParseDuration(text);
  if (!duration.ok()) return duration;
  if (duration->count() < key.least || duration->count() > key.most) return NotInRange(key);
  return duration;
}

Result<mode_t, ValueError> ParseMode(std::string_view text) {
  unsigned mode = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, mode, 8);
  const bool three_or_four = text.size() == 3 || (text.size() == 4 && text[0] == '0');
  if (error != std::errc() || stop != end || !three_or_four) {
    return ValueError{"is no mode; write three octal digits after a 0, such as 0660"};
  }
  return static_cast<mode_t>(mode);
}

std::string CheckName(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char byte) {
    return IsDigit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           byte == '-' || byte == '_' || byte == '.';
  });
  if (plain && !text.empty() && text.size() <= kMaxName) return {};
  return "is no name; write 1 to 64 letters, digits, '-', '_' or '.'";
}

std::string CheckAddress(const std::string& text) {
  SocketAddress address;
  if (!ParseAddress(text.c_str(), &address)) {
    return "is no address; write one such as 127.0.0.1:8080, '*:80', '[::]:443', "
           "unix:/run/app.sock or unix:@name";
  }
  const bool relative =
      address.family() == AF_UNIX && text.compare(5, 1, "/") != 0 && text.compare(5, 1, "@") != 0;
  if (relative) return "names a relative path; write it from the root, unix:/...";
  return {};
}

std::string CheckNetworkAddress(const std::string& text, const std::string& who) {
  if (text.empty()) return {};
  if (text.rfind("unix:", 0) == 0) {
    return "is a UNIX socket; " + who + " needs an address such as 127.0.0.1:9945";
  }
  return CheckAddress(text);
}

std::string CheckPath(const std::string& text) {
  if (text.empty()) return {};
  if (text[0] != '/') return "is a relative path; write it from the root";
  if (text.size() <= kMaxSocketPath) return {};
  return "is too long; the path of a socket has at most " + std::to_string(kMaxSocketPath) +
         " bytes";
}

std::string CheckChoice(const std::string& text, std::span<const std::string_view> choices) {
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return {};
  return "is not known" + SpellingHint(text, choices);
}

std::string CheckText(TextKind kind, const std::string& text,
                      std::span<const std::string_view> policies) {
  switch (kind) {
    case TextKind::kNone:
      break;
    case TextKind::kName:
      return CheckName(text);
    case TextKind::kListenAddress:
      return CheckAddress(text);
    case TextKind::kHttpAddress:
      return CheckNetworkAddress(text, "HTTP");
    case TextKind::kAgentAddress:
      return CheckNetworkAddress(text, "an agent check");
    case TextKind::kPath:
      return CheckPath(text);
    case TextKind::kUser:
      if (text.empty() || FindUser(text)) return {};
      return "is an unknown user; create it, or write its uid";
    case TextKind::kGroup:
      if (text.empty() || FindGroup(text)) return {};
      return "is an unknown group; create it, or write its gid";
    case TextKind::kPolicy:
      return CheckChoice(text, policies);
    case TextKind::kLogLevel:
      return CheckChoice(text, kLogLevels);
    case TextKind::kLogFormat:
      return CheckChoice(text, kLogFormats);
    case TextKind::kCoverage:
      return CheckChoice(text, kCoverages);
    case TextKind::kNoWorker:
      return CheckChoice(text, kWithoutWorker);
    case TextKind::kOnStop:
      return CheckChoice(text, kWaysToStop);
    case TextKind::kTopology:
      if (text.empty() || text[0] == '/' || text.rfind("synthetic:", 0) == 0) return {};
      return "is no topology; write the path of an XML file from the root, or synthetic:...";
  }
  return {};
}

// One overload for each type of field: stores the value, or says what is wrong with it.
struct Store {
  const ConfigKey& key;
  const std::string& text;
  std::span<const std::string_view> policies;

  template <typename Value, typename Field>
  std::string Take(const Result<Value, ValueError>& parsed, Field* field) const {
    if (!parsed.ok()) return parsed.error().text;
    *field = static_cast<Field>(*parsed);
    return {};
  }

  std::string operator()(std::string* field) const {
    std::string problem = CheckText(key.text, text, policies);
    if (problem.empty()) *field = text;
    return problem;
  }
  std::string operator()(bool* field) const {
    if (text != "true" && text != "false") return "is neither true nor false";
    *field = text == "true";
    return {};
  }
  std::string operator()(int* field) const { return Take(ParseCount(key, text), field); }
  std::string operator()(size_t* field) const { return Take(ParseCount(key, text), field); }
  std::string operator()(double* field) const { return Take(ParsePortion(key, text), field); }
  std::string operator()(mode_t* field) const { return Take(ParseMode(text), field); }
  std::string operator()(Duration* field) const { return Take(ParseDurationOf(key, text), field); }
  std::string operator()(Principals* field) const { return AddPrincipal(text, field); }
  std::string operator()(AdoptConfig* field) const {
    const std::string problem = (*this)(&field->enabled);
    return problem.empty() ? problem : problem + "; write one of them, or a list of principals";
  }
};

}  // namespace

Result<Duration, ValueError> ParseDuration(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0) {
    return ValueError{"is no duration; write digits and a unit, such as 5ms or 30s"};
  }
  if (digits == text.size()) {
    return ValueError{std::string("has no unit; write one of ") + kUnitList + " after it"};
  }
  const std::string_view name = text.substr(digits);
  const auto* unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                  [&](const Unit& each) { return each.name == name; });
  if (unit == std::end(kUnits)) {
    return ValueError{"has the unknown unit " + Quote(name) + "; write whole numbers of " +
                      kUnitList};
  }
  const auto number = ParseNumber(text.substr(0, digits));
  if (!number || *number > std::numeric_limits<int64_t>::max() / unit->nanoseconds) {
    return ValueError{"is longer than 292 years"};
  }
  return Duration(*number * unit->nanoseconds);
}

std::string FormatDuration(Duration duration) {
  if (duration.count() == 0) return "0s";
  const auto* unit = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& each) {
    return duration.count() % each.nanoseconds == 0;
  });
  return std::to_string(duration.count() / unit->nanoseconds) + std::string(unit->name);
}

std::string StoreValue(const ConfigKey& key, const ConfigField& field, const std::string& text,
                       std::span<const std::string_view> policies) {
  // Most of what takes a text further on ends it at a zero byte.
  const bool whole = text.find('\0') == std::string::npos;
  const std::string problem =
      whole ? std::visit(Store{key, text, policies}, field) : "holds a zero byte; leave it out";
  if (problem.empty()) return {};
  if (std::holds_alternative<Principals*>(field))
    return "'" + std::string(key.name) + "': " + problem;
  return "'" + std::string(key.name) + "': " + Quote(text) + " " + problem;
}

}  // namespace ringdeal
