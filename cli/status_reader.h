// The status document of ringdeald. Main thread.
#pragma once

#include <string>

#include "cli/control_client.h"
#include "protocol/result.h"

namespace ringdeal {

// The text of the document, from the ringdeald whose control socket is `control` (empty: the
// default one).
Result<std::string, ControlError> ReadStatus(const std::string& control);

}  // namespace ringdeal
