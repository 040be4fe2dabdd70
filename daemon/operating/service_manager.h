// Tells the service manager how ringdeald is, and gives it the listeners to keep over a restart.
// Control thread.
#pragma once

#include <string>
#include <string_view>

namespace ringdeal {

// sd_notify(3): one datagram to NOTIFY_SOCKET, such as "READY=1". Nothing happens without one.
void NotifyServiceManager(std::string_view state);

// A directory that it gives its service, named by such a variable as RUNTIME_DIRECTORY: the first,
// if they are several. Empty if it gives none.
std::string ServiceDirectory(const char* variable);

// In the service manager's descriptor store a listener has its name with this before it, which no
// name in a configuration has: what comes back is told from what a socket unit gives.
inline constexpr char kStoredMark = '@';

// Has the service manager keep this socket, and no other, for the next ringdeald, if it keeps any
// (FileDescriptorStoreMax=). The socket stays the caller's.
void StoreListener(const std::string& name, int socket);
void ForgetStoredListener(const std::string& name);

}  // namespace ringdeal
