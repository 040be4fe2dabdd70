#include "protocol/failpoint_socket.h"

#ifdef RINGDEAL_FAILPOINTS

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "protocol/descriptor_passing.h"
#include "protocol/system_calls.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

void WaitAtFailpointSocket(const char* path, const char* name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const size_t length = std::strlen(path);
  if (length >= sizeof(address.sun_path)) return;
  std::memcpy(address.sun_path, path, length);
  const UniqueFd socket(sys::Socket(AF_UNIX, SOCK_STREAM));
  if (!socket) return;
  if (sys::Connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
    return;
  const auto bytes = std::as_bytes(std::span(name, std::strlen(name)));
  if (!SendWithDescriptors(socket.get(), bytes, BytesOf("\n", 1), {}, 0)) return;
  pollfd answer = {socket.get(), POLLIN, 0};
  while (sys::Poll(&answer, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace ringdeal

#endif
