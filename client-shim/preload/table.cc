#include "client-shim/preload/table.h"

namespace ringdeal::shim::table {

uint32_t entries[kNumbers];

}  // namespace ringdeal::shim::table
