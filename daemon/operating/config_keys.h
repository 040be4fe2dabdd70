// Every key of the configuration file, once. The parser, its hints, and the tests that hold the
// manual and the full sample equal to the code are driven by it. Constant. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/operating/config.h"

namespace ringdeal {

// What a text may be. Other values are known by the type of their field.
enum class TextKind {
  kNone,           // no text
  kName,           // of a listener
  kListenAddress,  // what ParseAddress takes
  kHttpAddress,    // the same, of IPv4 or IPv6, or nothing
  kAgentAddress,   // likewise
  kPath,           // of a socket, from the root, or nothing
  kUser,           // known to the system, or nothing
  kGroup,          // known to the system, or nothing
  kPolicy,
  kLogLevel,
  kLogFormat,
  kCoverage,
  kNoWorker,
  kOnStop,
  kTopology,  // what Topology::Read takes
};

// Where a value goes. A Duration is in nanoseconds, mode_t in octal.
using ConfigField = std::variant<std::string*, bool*, int*, size_t*, double*, mode_t*, Duration*,
                                 Principals*, AdoptConfig*>;

// When a new value takes effect.
enum class TakesEffect : uint8_t {
  kAtReload,
  kAtRestart,
};

struct ConfigKey {
  std::string_view section;  // "" at the top, else the key that it stands under
  std::string_view name;
  std::string_view default_text;  // as the file says it; empty: the key must be given
  std::string_view unit;          // of its value, or what kind of value it is
  std::string_view help;
  // The field in `config`, or in `listener` for the sections "listeners" and "adopted".
  ConfigField (*field)(Config& config, ListenerConfig& listener);
  TextKind text = TextKind::kNone;
  // Of a number, or of a duration in nanoseconds.
  int64_t least = 0;
  int64_t most = 0;
  TakesEffect takes_effect = TakesEffect::kAtReload;

  bool required() const { return default_text.empty(); }
};

inline constexpr std::string_view kTopSection = "";
inline constexpr std::string_view kListenersSection = "listeners";
inline constexpr std::string_view kAdoptedSection = "adopted";

std::span<const ConfigKey> ConfigKeys();

// "log.level"; at the top without a section.
std::string FullName(const ConfigKey& key);

// nullptr if there is no such key.
const ConfigKey* FindConfigKey(std::string_view section, std::string_view name);

// The names that may stand in `section`, in the order of the manual; at the top also the sections.
std::vector<std::string_view> NamesInSection(std::string_view section);

bool IsConfigSection(std::string_view name);

// "1 to 64", "100us to 10s"; empty if the key has no range.
std::string RangeOf(const ConfigKey& key);

}  // namespace ringdeal
