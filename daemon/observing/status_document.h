// The snapshot as the status document: what /status.json and `ringdeal status` give to programs.
// Its keys are documented in docs/status.md and stable. Any thread.
#pragma once

#include <string>

#include "daemon/observing/snapshot.h"

namespace ringdeal {

// Of the document's form: raised when a key changes its meaning or goes, not when one is added.
inline constexpr int kStatusVersion = 1;

// One JSON object in one line, without a newline.
std::string RenderStatus(const Snapshot& snapshot);

}  // namespace ringdeal
