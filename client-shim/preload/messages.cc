#include <algorithm>
#include <cstring>

#include "client-shim/preload/handing_on.h"
#include "client-shim/preload/listener.h"
#include "client-shim/preload/real_calls.h"

namespace ringdeal::shim {
namespace {

// Twice what the kernel's 253 numbers take; a longer one goes as it is.
constexpr size_t kMostControlBytes = 2048;

// True if `part` held a slot.
bool PutSockets(cmsghdr* part, const char* end) {
  bool any = false;
  if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) return false;
  const char* part_end = reinterpret_cast<char*>(part) + part->cmsg_len;
  unsigned char* at = CMSG_DATA(part);
  for (; reinterpret_cast<char*>(at) + sizeof(int) <= std::min(end, part_end); at += sizeof(int)) {
    int number = -1;
    std::memcpy(&number, at, sizeof(number));
    const int socket = SocketBehind(number);
    if (socket < 0) continue;
    std::memcpy(at, &socket, sizeof(socket));
    any = true;
  }
  return any;
}

bool MayPassSlots(const msghdr* message) {
  return listeners::Any() && message != nullptr && message->msg_control != nullptr &&
         message->msg_controllen >= sizeof(cmsghdr) && message->msg_controllen <= kMostControlBytes;
}

}  // namespace

ssize_t SendMessage(int socket, const msghdr* message, int flags) {
  if (!MayPassSlots(message)) return real::sendmsg(socket, message, flags);
  alignas(cmsghdr) char control[kMostControlBytes];
  msghdr copy = *message;
  copy.msg_control = std::memcpy(control, message->msg_control, message->msg_controllen);
  bool any = false;
  for (cmsghdr* part = CMSG_FIRSTHDR(&copy); part != nullptr; part = CMSG_NXTHDR(&copy, part)) {
    any |= PutSockets(part, control + copy.msg_controllen);
  }
  return real::sendmsg(socket, any ? &copy : message, flags);
}

int SendMessages(int socket, mmsghdr* messages, unsigned count, int flags) {
  bool any = false;
  for (unsigned i = 0; i < count && !any; ++i) any = MayPassSlots(&messages[i].msg_hdr);
  if (!any) return real::sendmmsg(socket, messages, count, flags);
  // As the kernel does: up to the first that fails, whose error counts if it is the first of all.
  for (unsigned i = 0; i < count; ++i) {
    const ssize_t bytes = SendMessage(socket, &messages[i].msg_hdr, flags);
    if (bytes < 0) return i > 0 ? static_cast<int>(i) : -1;
    messages[i].msg_len = static_cast<unsigned>(bytes);
  }
  return static_cast<int>(count);
}

}  // namespace ringdeal::shim
