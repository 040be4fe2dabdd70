#include "client-shim/client/failpoint.h"

#ifdef RINGDEAL_FAILPOINTS

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include "protocol/descriptor_passing.h"
#include "protocol/system_calls.h"
#include "protocol/unique_fd.h"

namespace ringdeal::client::failpoint {
namespace {

enum class Armed : int { kUnknown, kNo, kYes };
constinit std::atomic<Armed> armed{Armed::kUnknown};

// True if `name` is one of "one,two".
bool IsListed(const char* names, const char* name) {
  const size_t length = std::strlen(name);
  while (true) {
    const size_t each = strcspn(names, ",");
    if (each == length && std::strncmp(names, name, length) == 0) return true;
    if (names[each] == '\0') return false;
    names += each + 1;
  }
}

// What is missing at the other end lets the process go on.
void WaitAtSocket(const char* path, const char* name) {
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

}  // namespace

void Pass(const char* name) {
  if (armed.load(std::memory_order_relaxed) == Armed::kNo) return;
  const char* path = std::getenv("RINGDEAL_FAILPOINT_SOCKET");
  const char* names = std::getenv("RINGDEAL_FAILPOINT_NAMES");
  const bool found = path != nullptr && names != nullptr;
  armed.store(found ? Armed::kYes : Armed::kNo, std::memory_order_relaxed);
  if (!found || !IsListed(names, name)) return;
  const int saved_errno = errno;
  WaitAtSocket(path, name);
  errno = saved_errno;
}

}  // namespace ringdeal::client::failpoint

#endif
