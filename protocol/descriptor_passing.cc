#include "protocol/descriptor_passing.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace ringdeal {
namespace {

#if defined(MSG_CMSG_CLOEXEC)
constexpr int kCloseOnExec = MSG_CMSG_CLOEXEC;
#else
constexpr int kCloseOnExec = 0;  // macOS: MarkCloseOnExec does it after the fact
#endif

union ControlBuffer {
  cmsghdr header;  // for the alignment
  unsigned char bytes[CMSG_SPACE(sizeof(int) * kMaxDescriptorsPerMessage)];
};

void TakeDescriptors(msghdr* message, ReceivedMessage* received) {
  for (cmsghdr* header = CMSG_FIRSTHDR(message); header != nullptr;
       header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count && received->descriptor_count < kMaxDescriptorsPerMessage; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      if (kCloseOnExec == 0) sys::Control(descriptor, F_SETFD, FD_CLOEXEC);
      received->descriptors[received->descriptor_count++].Reset(descriptor);
    }
  }
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

Result<ReceivedMessage> ReceiveWithDescriptors(int socket, std::span<std::byte> data, int flags) {
  iovec part = {data.data(), data.size()};
  ControlBuffer control;  // the kernel writes what it fills, and says how much
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof(control.bytes);
  ssize_t bytes = 0;
  do {
    bytes = sys::ReceiveMessage(socket, &message, flags | kCloseOnExec);
  } while (bytes < 0 && errno == EINTR && (flags & MSG_DONTWAIT) != 0);
  if (bytes < 0) return SystemError{errno, "recvmsg"};

  ReceivedMessage received;
  received.bytes = static_cast<size_t>(bytes);
  TakeDescriptors(&message, &received);
  if ((message.msg_flags & MSG_CTRUNC) != 0) {
    const bool no_number_free = received.descriptor_count < kMaxDescriptorsPerMessage;
    return SystemError{no_number_free ? EMFILE : EMSGSIZE, "recvmsg: descriptors truncated"};
  }
  if ((message.msg_flags & MSG_TRUNC) != 0) return SystemError{EMSGSIZE, "recvmsg: truncated"};
  return received;
}

}  // namespace ringdeal
