// Which processes hold the listening sockets of an address, for the operator to read. Control
// thread; slow.
#pragma once

#include <string>

namespace ringdeal {

// "nginx (12), nginx (13)", as far as this process may see; empty if it sees none. `address` as
// FormatAddress writes it.
std::string HoldersOf(const std::string& address);

}  // namespace ringdeal
