// Who is at the other end of an AF_UNIX stream, as the kernel noted it. Any thread.
#pragma once

#include <sys/types.h>

#include "protocol/result.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

struct PeerCredentials {
  pid_t pid = 0;  // 0: in a pid namespace that is not visible from here
  uid_t uid = static_cast<uid_t>(-1);
  gid_t gid = static_cast<gid_t>(-1);
};

Result<PeerCredentials> PeerCredentialsOf(int socket);

// A descriptor that becomes readable when the peer's process has ended; ENOTSUP where the kernel
// has none.
Result<UniqueFd> PeerProcessDescriptor(int socket);

}  // namespace ringdeal
