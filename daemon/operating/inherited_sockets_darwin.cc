#include <launch.h>

#include <cstdlib>

#include "daemon/operating/inherited_sockets.h"

namespace ringdeal {

// launchd gives sockets by the names of the property list, which are those of the listeners.
std::vector<InheritedSocket> TakeInheritedSockets(std::span<const std::string> names) {
  std::vector<InheritedSocket> sockets;
  for (const std::string& name : names) {
    int* descriptors = nullptr;
    size_t count = 0;
    if (launch_activate_socket(name.c_str(), &descriptors, &count) != 0) continue;
    for (size_t i = 0; i < count; ++i) sockets.push_back({name, UniqueFd(descriptors[i]), false});
    std::free(descriptors);
  }
  return sockets;
}

}  // namespace ringdeal
