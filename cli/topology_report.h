// The machine's tree as text, for each listener with its workers where they sit and what the CPUs
// receive for them. Pure.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace ringdeal {

// `status`: `topology` and `listeners` of the status document. Throws an exception of the standard
// library's kind if they are not what docs/status.md says.
std::string TopologyAsText(const nlohmann::ordered_json& status);

}  // namespace ringdeal
