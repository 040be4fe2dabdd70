// The command line of ringdeald: the only place that sees CLI11. At start, on the control thread.
#pragma once

#include <string>

#include "daemon/operating/config.h"
#include "protocol/result.h"

namespace ringdeal {

struct Options {
  std::string config_path;    // the default one if none is named
  bool config_named = false;  // by --config: then it must exist
  bool check = false;         // read the configuration, say what it is, end
  bool simulate = false;      // answer one request of `ringdeal simulate` from standard input, end
};

// The program ends before it begins: `text` (with its end) belongs on standard output if `code` is
// kExitOk, else on standard error.
struct EarlyExit {
  int code = 0;
  std::string text;
};

// Takes --config, --check, --version and --help, and --simulate, which help does not show. No
// exception leaves it.
Result<Options, EarlyExit> ParseOptions(int argc, const char* const* argv);

// ringdeal.yaml in what the service manager gives (ConfigurationDirectory=), else
// /etc/ringdeal/ringdeal.yaml for root and $XDG_RUNTIME_DIR/ringdeal/ringdeal.yaml for others;
// empty if this user has no such directory.
std::string DefaultConfigPath();

// What --check says of a good configuration: one line, with its end.
std::string DescribeConfig(const Config& config);

// "libevent 2.1.12, yaml-cpp 0.7.0, ...", as they were at compile time.
const char* LibraryVersions();

}  // namespace ringdeal
