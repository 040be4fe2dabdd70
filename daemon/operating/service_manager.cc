#include "daemon/operating/service_manager.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <cstdlib>
#include <span>

#include "protocol/descriptor_passing.h"
#include "protocol/socket_address.h"
#include "protocol/unique_fd.h"

namespace ringdeal {
namespace {

// Its queue may be full of what other services say. Not waited for longer than nobody minds.
constexpr timeval kPatience = {0, 100'000};

void Notify(std::string_view state, std::span<const int> descriptors) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  SocketAddress address;
  if (path == nullptr || !ParseAddress(("unix:" + std::string(path)).c_str(), &address)) return;
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM, 0));
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  if (connect(socket.get(), address.get(), address.length) != 0) return;
  (void)SendWithDescriptors(socket.get(), std::as_bytes(std::span(state)), {}, descriptors, 0);
}

}  // namespace

void NotifyServiceManager(std::string_view state) { Notify(state, {}); }

std::string ServiceDirectory(const char* variable) {
  const char* value = std::getenv(variable);
  const std::string_view given(value != nullptr ? value : "");
  const std::string_view first = given.substr(0, given.find(':'));
  return first.starts_with('/') ? std::string(first) : std::string();
}

void StoreListener(const std::string& name, int socket) {
  ForgetStoredListener(name);
  Notify("FDSTORE=1\nFDNAME=" + (kStoredMark + name), std::span(&socket, 1));
}

void ForgetStoredListener(const std::string& name) {
  Notify("FDSTOREREMOVE=1\nFDNAME=" + (kStoredMark + name), {});
}

}  // namespace ringdeal
