// What the environment said when the program started, copied: programs overwrite their environment
// to change their name. Written by the constructor, then constant.
#pragma once

#include <cstddef>

namespace ringdeal::shim {

struct Settings {
  bool enabled = false;       // false until the constructor has run, and with RINGDEAL_DISABLE
  bool require = false;       // RINGDEAL_REQUIRE: no ringdeald is an error
  bool silent = false;        // RINGDEAL_LOG=off
  unsigned weight = 1;        // RINGDEAL_WEIGHT
  char no_weight[32] = "";    // what it said, or the beginning, if that is none
  char control[108] = "";     // RINGDEAL_CONTROL, or the default path
  char listeners[1024] = "";  // RINGDEAL_LISTENERS: only these, empty for all
  char cpus[256] = "";        // RINGDEAL_CPUS
};

extern Settings settings;

void ReadEnvironment();

// True if the listener of this address is meant: RINGDEAL_LISTENERS is empty or names it, whole
// ("127.0.0.1:80") or by its port (":80"), among others separated by commas.
bool IsMeant(const char* address);

// One line on stderr. Keeps errno.
__attribute__((format(printf, 1, 2))) void Say(const char* format, ...);

}  // namespace ringdeal::shim
