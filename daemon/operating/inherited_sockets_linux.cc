#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "daemon/operating/inherited_sockets.h"
#include "daemon/operating/service_manager.h"

namespace ringdeal {
namespace {

constexpr int kFirstDescriptor = 3;  // sd_listen_fds(3)

std::vector<std::string> SplitNames(const char* text) {
  std::vector<std::string> names;
  std::stringstream stream(text != nullptr ? text : "");
  for (std::string name; std::getline(stream, name, ':');) names.push_back(name);
  return names;
}

}  // namespace

std::vector<InheritedSocket> TakeInheritedSockets(std::span<const std::string>) {
  const char* pid = std::getenv("LISTEN_PID");
  const char* count = std::getenv("LISTEN_FDS");
  std::vector<InheritedSocket> sockets;
  if (pid != nullptr && count != nullptr && std::atol(pid) == getpid()) {
    std::vector<std::string> names = SplitNames(std::getenv("LISTEN_FDNAMES"));
    const int sockets_given = std::atoi(count);
    names.resize(sockets_given > 0 ? static_cast<size_t>(sockets_given) : 0);
    for (int i = 0; i < sockets_given; ++i) {
      const int descriptor = kFirstDescriptor + i;
      if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) continue;
      const std::string& name = names[static_cast<size_t>(i)];
      const bool stored = name.starts_with(kStoredMark);
      sockets.push_back(
          {name.empty() ? "unknown" : name.substr(stored ? 1 : 0), UniqueFd(descriptor), stored});
    }
  }
  unsetenv("LISTEN_PID");
  unsetenv("LISTEN_FDS");
  unsetenv("LISTEN_FDNAMES");
  return sockets;
}

}  // namespace ringdeal
