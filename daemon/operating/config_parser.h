// The configuration file: the only place that sees yaml-cpp. Control thread, at start and at a
// reload. No exception leaves it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "daemon/operating/config.h"
#include "protocol/result.h"

namespace ringdeal {

inline constexpr size_t kMaxConfigBytes = 1024 * 1024;

// The first problem, for people: "file:line:column: what is wrong; what to do". One line, no end.
struct ConfigError {
  std::string text;
};

// Whether a file that is not there is an error: the default file need not exist.
enum class MissingFile { kIsError, kMeansDefaults };

// `file_name` is for messages only. `policies` are the names that a policy may have.
Result<Config, ConfigError> ParseConfig(std::string_view text, const std::string& file_name,
                                        std::span<const std::string_view> policies);

// Reads and parses the file. Config::source says which, and is empty if there was none.
Result<Config, ConfigError> LoadConfig(const std::string& path, MissingFile missing,
                                       std::span<const std::string_view> policies);

}  // namespace ringdeal
