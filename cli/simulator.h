// ringdeald as a simulator: a request in, a result out. Main thread.
#pragma once

#include <string>

#include "protocol/result.h"

namespace ringdeal {

// What it printed. The error is the exit code to end with; why is said then.
Result<std::string, int> AskSimulator(const std::string& request);

}  // namespace ringdeal
