// The CPU that the calling thread runs on. Any thread.
#pragma once

#include <cstdint>

namespace ringdeal::client {

// UINT32_MAX where the platform does not say: stored plus one, that is "unknown".
uint32_t CurrentCpu();

}  // namespace ringdeal::client
