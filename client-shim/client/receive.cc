#include "client-shim/client/receive.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>

#include "protocol/system_calls.h"

namespace ringdeal::client {
namespace {

Received ReceiveOnce(int channel, int flags, OverExec over_exec, HandoffFrame* frame,
                     UniqueFd* connection) {
  *frame = {};
  auto received = ReceiveWithDescriptors(channel, std::as_writable_bytes(std::span(frame, 1)),
                                         flags | MSG_DONTWAIT, over_exec);
  if (!received) {
    const int number = received.error().number;
    if (number == EAGAIN || number == EWOULDBLOCK) return Received::kNothing;
    if (number == EMFILE) return Received::kLost;
    return number == EMSGSIZE ? Received::kBroken : Received::kEnd;
  }
  if (received->bytes == 0) return Received::kEnd;
  if (!IsWholeFrame(*frame, received->bytes)) return Received::kBroken;
  if (frame->kind == FrameKind::kDoorbell) return Received::kBell;
  if (received->descriptor_count != 1) return Received::kBroken;
  *connection = std::move(received->descriptors[0]);
  return Received::kConnection;
}

// Leaves what is there in the channel.
ssize_t Peek(int channel, int flags) {
  char byte = 0;
  iovec part = {&byte, sizeof(byte)};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  return sys::ReceiveMessage(channel, &message, MSG_PEEK | flags);
}

}  // namespace

Received ReceiveFrame(int channel, bool careful, OverExec over_exec, HandoffFrame* frame,
                      UniqueFd* connection) {
  if (!careful) return ReceiveOnce(channel, 0, over_exec, frame, connection);
  HandoffFrame seen;
  UniqueFd copy;
  const Received look = ReceiveOnce(channel, MSG_PEEK, over_exec, &seen, &copy);
  if (look == Received::kLost) return Received::kFull;
  if (look == Received::kNothing || look == Received::kEnd) return look;
  const Received take = ReceiveOnce(channel, 0, over_exec, frame, connection);
  // The copy took the last free number, and is as good. If ringdeald took the seen frame back in
  // between, this is another one, and it is gone.
  if (take != Received::kLost || look != Received::kConnection ||
      seen.sequence != frame->sequence) {
    return take;
  }
  *connection = std::move(copy);
  return Received::kConnection;
}

int WaitForFrame(int channel) { return Peek(channel, 0) < 0 ? -1 : 0; }

bool HasEnded(int channel) { return Peek(channel, MSG_DONTWAIT) == 0; }

}  // namespace ringdeal::client
