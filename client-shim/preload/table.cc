#include "client-shim/preload/table.h"

namespace ringdeal::shim::table {

constinit std::atomic<Entry> entries[kNumbers] = {};

}  // namespace ringdeal::shim::table
