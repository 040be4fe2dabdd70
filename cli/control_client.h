// One request to ringdeald over its control socket, and the answer. Main thread.
#pragma once

#include <string>

#include "protocol/result.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

// Why there is no answer, as one line; `refused`: ringdeald said no, else it could not be asked.
struct ControlError {
  std::string text;
  bool refused = false;
};

// Sends one line of JSON, without its end, to the control socket at `path` (empty: the default
// one) and waits at most five seconds for the answer. Returns the descriptor that came with the
// answer, invalid if none did.
Result<UniqueFd, ControlError> AskDaemon(const std::string& path, const std::string& request);

}  // namespace ringdeal
