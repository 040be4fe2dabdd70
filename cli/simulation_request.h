// What `ringdeal simulate` asks of ringdeald, as one JSON object. Pure.
#pragma once

#include <string>

#include "cli/options.h"
#include "protocol/result.h"

namespace ringdeal {

struct WrongOption {
  std::string text;  // one line
};

Result<std::string, WrongOption> SimulationRequestFor(const SimulateOptions& options,
                                                      const std::string& policy);

}  // namespace ringdeal
