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

struct ControlAnswer {
  std::string line;     // one JSON object that says "ok"
  UniqueFd descriptor;  // invalid if none came with it
};

// Sends one line of JSON, without its end, to the control socket at `path` (empty: the default
// one) and waits at most five seconds for the answer.
Result<ControlAnswer, ControlError> AskDaemon(const std::string& path, const std::string& request);

}  // namespace ringdeal
