#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

#include "daemon/accepting/socket_path.h"
#include "protocol/unique_fd.h"

namespace ringdeal {
namespace {

// The file that a UNIX socket of our network namespace is bound to; nothing if the kernel does not
// say it.
std::optional<unix_diag_vfs> BoundFileOf(int socket) {
  struct stat status = {};
  if (fstat(socket, &status) != 0) return std::nullopt;
  const UniqueFd diag(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  struct {
    nlmsghdr header;
    unix_diag_req request;
  } question = {};
  question.header.nlmsg_len = sizeof(question);
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.request.sdiag_family = AF_UNIX;
  question.request.udiag_ino = static_cast<uint32_t>(status.st_ino);
  question.request.udiag_show = UDIAG_SHOW_VFS;
  question.request.udiag_cookie[0] = question.request.udiag_cookie[1] = UINT32_MAX;  // any
  if (send(diag.get(), &question, sizeof(question), 0) < 0) return std::nullopt;
  alignas(nlmsghdr) char answer[1024];
  const ssize_t length = recv(diag.get(), answer, sizeof(answer), MSG_DONTWAIT);
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer);
  if (length < 0 || !NLMSG_OK(header, static_cast<size_t>(length)) ||
      header->nlmsg_type != SOCK_DIAG_BY_FAMILY) {
    return std::nullopt;
  }
  const auto* message = static_cast<const unix_diag_msg*>(NLMSG_DATA(header));
  auto left = static_cast<int>(header->nlmsg_len - NLMSG_LENGTH(sizeof(*message)));
  const auto* attribute = reinterpret_cast<const rtattr*>(message + 1);
  for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
    if (attribute->rta_type != UNIX_DIAG_VFS) continue;
    return *static_cast<const unix_diag_vfs*>(RTA_DATA(attribute));
  }
  return std::nullopt;
}

// As the kernel has it inside: 12 bits and 20.
dev_t DeviceOf(const unix_diag_vfs& file) {
  return makedev(file.udiag_vfs_dev >> 20U, file.udiag_vfs_dev & 0xfffffU);
}

}  // namespace

Result<void> SetSocketPathOwner(const char* path, mode_t mode, uid_t uid, gid_t gid) {
  const UniqueFd there(open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status = {};
  if (!there || fstat(there.get(), &status) != 0) return SystemError{errno, "open"};
  if (!S_ISSOCK(status.st_mode)) return SystemError{ENOTSOCK, "open"};
  // A descriptor of this kind takes neither fchmod nor fchown.
  const std::string same = "/proc/self/fd/" + std::to_string(there.get());
  if (chmod(same.c_str(), mode) != 0) return SystemError{errno, "chmod"};
  // A service's sandbox may forbid the call.
  const bool keeps_owner = uid == static_cast<uid_t>(-1) && gid == static_cast<gid_t>(-1);
  if (!keeps_owner && chown(same.c_str(), uid, gid) != 0) return SystemError{errno, "chown"};
  return {};
}

bool IsAtPath(int socket, const char* path) {
  struct stat status = {};
  if (lstat(path, &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  const std::optional<unix_diag_vfs> bound = BoundFileOf(socket);
  // Layered file systems show other numbers to programs than the kernel has: device and inode both.
  if (!bound || DeviceOf(*bound) != status.st_dev) return true;
  return bound->udiag_vfs_ino == static_cast<uint32_t>(status.st_ino);
}

}  // namespace ringdeal
