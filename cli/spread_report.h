// A tally as a person or a program reads it. Main thread.
#pragma once

#include <string>

#include "cli/tally.h"

namespace ringdeal {

// {"connections":32,"workers":[{"pid":7,"connections":16},…],"max":16,"min":16,…}, one line.
std::string SpreadAsJson(const Tally& tally);

// A table, one line a worker.
std::string SpreadAsText(const Tally& tally);

}  // namespace ringdeal
