// Listening sockets that the service manager opened, or kept for us. At start, on the control
// thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "protocol/unique_fd.h"

namespace ringdeal {

struct InheritedSocket {
  std::string name;  // as the service manager calls it
  UniqueFd descriptor;
  bool stored = false;  // by an earlier ringdeald, under the name of its listener
};

// Takes them over, once: a second call and any child see none. `names`: of the configured
// listeners, for a service manager that has to be asked by name.
std::vector<InheritedSocket> TakeInheritedSockets(std::span<const std::string> names);

}  // namespace ringdeal
