// The path of a UNIX socket in the file system, in a folder that others may write to. Control
// thread.
#pragma once

#include <sys/types.h>

#include "protocol/result.h"

namespace ringdeal {

// Sets mode, owner and group of the socket at `path`; -1: stays. Whoever may write to the folder
// may put anything in its place at any time: what is no socket stays as it is (ENOTSOCK, or ELOOP),
// and no link is followed.
Result<void> SetSocketPathOwner(const char* path, mode_t mode, uid_t uid, gid_t gid);

// Whether `path` leads to this socket, and not to one that was bound there since. Where the kernel
// does not say: whether a socket is there.
bool IsAtPath(int socket, const char* path);

}  // namespace ringdeal
