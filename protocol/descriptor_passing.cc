#include "protocol/descriptor_passing.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ringdeal {
namespace {

#if defined(MSG_CMSG_CLOEXEC)
constexpr int kCloseOnExec = MSG_CMSG_CLOEXEC;
#else
constexpr int kCloseOnExec = 0;  // macOS: done after the fact
#endif

// Room for the descriptors, and for the credentials and the pidfd that a worker can make the kernel
// put beside them: the receiving end of a channel is shared, with all its options.
union ControlBuffer {
  cmsghdr header;  // for the alignment
  unsigned char bytes[CMSG_SPACE(sizeof(int) * kMaxDescriptorsPerMessage) +
                      CMSG_SPACE(3 * sizeof(int)) + CMSG_SPACE(sizeof(int))];
};

#if defined(__linux__)
constexpr int kPidfdMessage = 4;  // SCM_PIDFD, Linux 6.5; the C library's headers may be older
#else
constexpr int kPidfdMessage = -1;
#endif

// Takes what the message carries and closes what the protocol does not know. Returns false if
// there were more descriptors than any message has.
bool TakeDescriptors(msghdr* message, OverExec over_exec, ReceivedMessage* received) {
  bool fits = true;
  for (cmsghdr* header = CMSG_FIRSTHDR(message); header != nullptr;
       header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET) continue;
    if (header->cmsg_type != SCM_RIGHTS && header->cmsg_type != kPidfdMessage) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      UniqueFd descriptor(number);
      if (header->cmsg_type != SCM_RIGHTS) continue;
      fits = fits && received->descriptor_count < kMaxDescriptorsPerMessage;
      if (!fits) continue;
      if (kCloseOnExec == 0 && over_exec == OverExec::kClosed)
        sys::Control(number, F_SETFD, FD_CLOEXEC);
      received->descriptors[received->descriptor_count++] = std::move(descriptor);
    }
  }
  return fits;
}

}  // namespace

Result<size_t> SendWithDescriptors(int socket, std::span<const std::byte> head,
                                   std::span<const std::byte> body,
                                   std::span<const int> descriptors, int flags) {
  if (descriptors.size() > kMaxDescriptorsPerMessage || head.size() + body.size() == 0) {
    return SystemError{EINVAL, "sendmsg"};
  }
  // sendmsg reads through these pointers and writes nothing.
  iovec parts[2] = {{const_cast<std::byte*>(head.data()), head.size()},
                    {const_cast<std::byte*>(body.data()), body.size()}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = body.empty() ? 1 : 2;
  ControlBuffer control = {};
  if (!descriptors.empty()) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  while (true) {
    const ssize_t sent = sys::SendMessage(socket, &message, flags | MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<size_t>(sent);
    if (errno != EINTR) return SystemError{errno, "sendmsg"};
  }
}

Result<ReceivedMessage> ReceiveWithDescriptors(int socket, std::span<std::byte> data, int flags,
                                               OverExec over_exec) {
  iovec part = {data.data(), data.size()};
  ControlBuffer control;  // the kernel writes what it fills, and says how much
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof(control.bytes);
  const int close_on_exec = over_exec == OverExec::kClosed ? kCloseOnExec : 0;
  ssize_t bytes = 0;
  do {
    bytes = sys::ReceiveMessage(socket, &message, flags | close_on_exec);
  } while (bytes < 0 && errno == EINTR && (flags & MSG_DONTWAIT) != 0);
  if (bytes < 0) return SystemError{errno, "recvmsg"};

  ReceivedMessage received;
  received.bytes = static_cast<size_t>(bytes);
  if (!TakeDescriptors(&message, over_exec, &received))
    return SystemError{EMSGSIZE, "recvmsg: descriptors"};
  if ((message.msg_flags & MSG_CTRUNC) != 0) {
    return SystemError{EMFILE, "recvmsg: descriptors truncated"};
  }
  if ((message.msg_flags & MSG_TRUNC) != 0) return SystemError{EMSGSIZE, "recvmsg: truncated"};
  return received;
}

}  // namespace ringdeal
