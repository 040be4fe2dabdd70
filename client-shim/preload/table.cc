#include "client-shim/preload/table.h"

namespace ringdeal::shim::table {

uint32_t entries[kNumbers];
constinit std::atomic<int> end{0};

}  // namespace ringdeal::shim::table
