#include <libproc.h>
#include <sys/proc_info.h>
#include <unistd.h>

#include <cerrno>

#include "protocol/socket_identity.h"

namespace ringdeal {

// macOS has no SO_COOKIE; the kernel's handle of the socket serves, while the socket lives.
Result<SocketIdentity> IdentityOf(int socket) {
  socket_fdinfo info = {};
  const int size = proc_pidfdinfo(getpid(), socket, PROC_PIDFDSOCKETINFO, &info, sizeof(info));
  if (size < static_cast<int>(sizeof(info))) return SystemError{errno, "proc_pidfdinfo"};
  return SocketIdentity{info.psi.soi_so, 0};
}

}  // namespace ringdeal
