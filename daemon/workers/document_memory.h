// A text in memory that is passed as a descriptor, for answers that exceed a line. Any thread.
#pragma once

#include <string_view>

#include "protocol/result.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

Result<UniqueFd> MakeDocumentMemory(std::string_view text);

}  // namespace ringdeal
