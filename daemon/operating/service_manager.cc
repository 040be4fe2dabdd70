#include "daemon/operating/service_manager.h"

#include <sys/socket.h>

#include <cstdlib>
#include <string>

#include "protocol/socket_address.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

void NotifyServiceManager(std::string_view state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  SocketAddress address;
  if (path == nullptr || !ParseAddress(("unix:" + std::string(path)).c_str(), &address)) return;
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM, 0));
  (void)sendto(socket.get(), state.data(), state.size(), MSG_DONTWAIT, address.get(),
               address.length);
}

}  // namespace ringdeal
