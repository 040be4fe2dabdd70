#include "daemon/operating/failpoint.h"

#ifdef RINGDEAL_FAILPOINTS

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "protocol/failpoint_socket.h"

namespace ringdeal::failpoint {
namespace {

using Handler = std::shared_ptr<const std::function<void()>>;

struct Registry {
  std::mutex mutex;
  std::map<std::string, Handler> handlers;
  std::string socket_path;
  std::set<std::string> socket_names;
};

// False while there is nothing to look up. Relaxed: who must be seen by a passage sets its handler
// before that passage by other means, as a test does.
std::atomic<bool> armed = false;

// Never destroyed: threads may still pass while the process exits.
Registry& TheRegistry() {
  static Registry* const registry = new Registry;
  return *registry;
}

// REQUIRES: the registry's mutex.
void UpdateArmed(const Registry& registry) {
  armed.store(!registry.handlers.empty() || !registry.socket_names.empty(),
              std::memory_order_relaxed);
}

[[maybe_unused]] const bool kEnvironmentRead = [] {
  ReadEnvironment();
  return true;
}();

}  // namespace

void SetHandler(const char* name, std::function<void()> handler) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  if (handler) {
    registry.handlers[name] = std::make_shared<const std::function<void()>>(std::move(handler));
  } else {
    registry.handlers.erase(name);
  }
  UpdateArmed(registry);
}

void ReadEnvironment() {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  registry.socket_names.clear();
  const char* path = std::getenv("RINGDEAL_FAILPOINT_SOCKET");
  const char* names = std::getenv("RINGDEAL_FAILPOINT_NAMES");
  if (path != nullptr && names != nullptr) {
    registry.socket_path = path;
    std::istringstream list(names);
    for (std::string name; std::getline(list, name, ',');) registry.socket_names.insert(name);
  }
  UpdateArmed(registry);
}

void Pass(const char* name) {
  if (!armed.load(std::memory_order_relaxed)) return;
  const int saved_errno = errno;
  Registry& registry = TheRegistry();
  Handler handler;
  std::string path;
  {
    const std::lock_guard lock(registry.mutex);
    const auto found = registry.handlers.find(name);
    if (found != registry.handlers.end()) handler = found->second;
    if (registry.socket_names.count(name) != 0) path = registry.socket_path;
  }
  // Without the lock: either may wait for other threads that pass.
  if (handler) {
    (*handler)();
  } else if (!path.empty()) {
    WaitAtFailpointSocket(path.c_str(), name);
  }
  errno = saved_errno;
}

}  // namespace ringdeal::failpoint

#endif
