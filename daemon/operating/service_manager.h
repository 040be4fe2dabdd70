// Tells the service manager how ringdeald is. Control thread.
#pragma once

#include <string_view>

namespace ringdeal {

// sd_notify(3): one datagram to NOTIFY_SOCKET, such as "READY=1". Nothing happens without one.
void NotifyServiceManager(std::string_view state);

}  // namespace ringdeal
