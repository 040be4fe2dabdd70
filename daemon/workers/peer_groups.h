// The supplementary groups of the process at the other end. Control thread.
#pragma once

#include <sys/types.h>

#include <vector>

namespace ringdeal {

// Empty where the kernel does not say.
std::vector<gid_t> PeerGroupsOf(int socket);

}  // namespace ringdeal
