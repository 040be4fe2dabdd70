#include "client-shim/client/failpoint.h"

#ifdef RINGDEAL_FAILPOINTS

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "protocol/failpoint_socket.h"

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

}  // namespace

void Pass(const char* name) {
  if (armed.load(std::memory_order_relaxed) == Armed::kNo) return;
  const char* path = std::getenv("RINGDEAL_FAILPOINT_SOCKET");
  const char* names = std::getenv("RINGDEAL_FAILPOINT_NAMES");
  const bool found = path != nullptr && names != nullptr;
  armed.store(found ? Armed::kYes : Armed::kNo, std::memory_order_relaxed);
  if (!found || !IsListed(names, name)) return;
  const int saved_errno = errno;
  WaitAtFailpointSocket(path, name);
  errno = saved_errno;
}

int Patience(int milliseconds) {
  static constinit std::atomic<int> patience{-1};
  if (patience.load(std::memory_order_relaxed) < 0) {
    const char* said = std::getenv("RINGDEAL_FAILPOINT_PATIENCE");
    patience.store(said != nullptr ? std::atoi(said) : 0, std::memory_order_relaxed);
  }
  const int found = patience.load(std::memory_order_relaxed);
  return found > 0 ? found : milliseconds;
}

}  // namespace ringdeal::client::failpoint

#endif
