// The simulation as `ringdeald --simulate` speaks it: one JSON object in, one out. Main thread.
#pragma once

#include <string>

#include "daemon/simulating/simulation.h"
#include "protocol/result.h"

namespace ringdeal {

// What `ringdeal simulate` makes of its options. The error is one line.
Result<SimulationRequest, std::string> ParseSimulationRequest(const std::string& text);

// With an end of line.
std::string SimulationAsJson(const SimulationRequest& request, const SimulationResult& result);

}  // namespace ringdeal
