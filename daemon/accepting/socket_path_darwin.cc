#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "daemon/accepting/socket_path.h"

namespace ringdeal {
namespace {

bool IsSocket(const char* path) {
  struct stat status = {};
  return lstat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

}  // namespace

Result<void> SetSocketPathOwner(const char* path, mode_t mode, uid_t uid, gid_t gid) {
  if (!IsSocket(path)) return SystemError{ENOTSOCK, "lstat"};
  if (fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW) != 0) return SystemError{errno, "chmod"};
  if (lchown(path, uid, gid) != 0) return SystemError{errno, "chown"};
  return {};
}

bool IsAtPath(int, const char* path) { return IsSocket(path); }

}  // namespace ringdeal
