#include "daemon/dealing/channel.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "protocol/descriptor_passing.h"
#include "protocol/handoff_frame.h"
#include "protocol/socket_pair.h"

namespace ringdeal {

namespace {

void MakeBlocking(Connection* connection) {
  fcntl(connection->socket.get(), F_SETFL, O_RDWR);
  connection->nonblocking = false;
}

}  // namespace

Result<Channel> Channel::Create() {
  Result<SocketPair> pair = MakeMessagePair();
  if (!pair) return pair.error();
  Channel channel;
  // The worker's end can send too: what it would leave here to be closed could block us.
  (void)shutdown(pair->first.get(), SHUT_RD);
  channel.sending_ = std::move(pair->first);
  channel.receiving_ = std::move(pair->second);
  return channel;
}

Result<void> Channel::Send(Connection* connection, bool may_be_nonblocking) {
  if (connection->nonblocking && !may_be_nonblocking) MakeBlocking(connection);
  HandoffFrame head;
  head.kind = connection->nonblocking ? FrameKind::kNonBlocking : FrameKind::kConnection;
  head.peer_length = connection->peer_length;
  head.sequence = ++sequence_;
  const int descriptor = connection->socket.get();
  const Result<size_t> sent = SendWithDescriptors(
      sending_.get(), BytesOf(head, kFrameHeadBytes),
      BytesOf(connection->peer, connection->peer_length), {&descriptor, 1}, MSG_DONTWAIT);
  if (!sent) return sent.error();
  return {};
}

Result<void> Channel::Ring() {
  HandoffFrame head;
  head.kind = FrameKind::kDoorbell;
  head.peer_length = 0;
  head.sequence = ++sequence_;
  const Result<size_t> sent =
      SendWithDescriptors(sending_.get(), BytesOf(head, kFrameHeadBytes), {}, {}, MSG_DONTWAIT);
  if (!sent) return sent.error();
  return {};
}

namespace {

struct Datagram {
  HandoffFrame frame;
  Result<ReceivedMessage> message = SystemError{};
};

Datagram Receive(int socket, int flags) {
  Datagram datagram;
  datagram.frame.sequence = 0;
  datagram.message = ReceiveWithDescriptors(
      socket, {reinterpret_cast<std::byte*>(&datagram.frame), sizeof(datagram.frame)},
      MSG_DONTWAIT | flags);
  return datagram;
}

}  // namespace

// A look first, which loses nothing: without a free descriptor number, taking would lose the
// connection. If the number is lost between the two, the one that the look gave is kept.
Result<std::optional<Connection>> Channel::TakeBack() {
  while (true) {
    Datagram seen = Receive(receiving_.get(), MSG_PEEK);
    if (!seen.message) {
      if (seen.message.error().number == EAGAIN) return std::optional<Connection>();
      return seen.message.error();
    }
    if (seen.message->bytes == 0) return std::optional<Connection>();  // shut down, and empty
    Datagram taken = Receive(receiving_.get(), 0);
    if (!taken.message) {
      const bool same = taken.frame.sequence == seen.frame.sequence;
      if (taken.message.error().number != EMFILE || !same) continue;
      taken = std::move(seen);
    }
    if (!IsWholeFrame(taken.frame, taken.message->bytes)) continue;
    if (taken.message->descriptor_count != 1) continue;  // a doorbell
    Connection connection;
    connection.socket = std::move(taken.message->descriptors[0]);
    connection.nonblocking = taken.frame.kind == FrameKind::kNonBlocking;
    connection.peer_length = taken.frame.peer_length;
    std::memcpy(&connection.peer, taken.frame.peer, taken.frame.peer_length);
    return std::optional<Connection>(std::move(connection));
  }
}

}  // namespace ringdeal
