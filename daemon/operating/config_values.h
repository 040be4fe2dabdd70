// The values of the configuration file, from their text. Nothing here knows YAML. Control thread
// only (users and groups are looked up).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "daemon/operating/config_keys.h"
#include "protocol/result.h"

namespace ringdeal {

// What is wrong with a value and what to write instead, as the end of a sentence that begins with
// the value: "has no unit; ...".
struct ValueError {
  std::string text;
};

// "5ms", "30s": digits and one of ns, us, ms, s, min, h. Always with the unit, also zero.
Result<Duration, ValueError> ParseDuration(std::string_view text);

// In the largest unit that divides it: "2ms", "24h". REQUIRES: not negative.
std::string FormatDuration(Duration duration);

// Checks `text` by the rules of `key` and stores it. `policies` are the names that kPolicy takes.
// Returns one sentence without its end, or an empty text if all is well; then only is the field
// changed. A Principals field takes one more of its list; an AdoptConfig "true" or "false".
std::string StoreValue(const ConfigKey& key, const ConfigField& field, const std::string& text,
                       std::span<const std::string_view> policies);

}  // namespace ringdeal
