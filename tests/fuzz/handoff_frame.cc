// A datagram of a channel, as a worker receives it: the input's first byte says how many
// descriptors come with the rest. Only a whole frame is taken for one, and no descriptor is lost.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "client-shim/client/receive.h"
#include "protocol/descriptor_passing.h"
#include "protocol/socket_pair.h"
#include "tests/fuzz/require.h"

namespace ringdeal {
namespace {

using client::Received;

// Descriptors are given out from the lowest number on: this one tells whether any stayed open.
int LowestFree() {
  const UniqueFd probe(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
  return probe.get();
}

void CheckTaken(Received received, const HandoffFrame& frame, const UniqueFd& connection,
                std::span<const std::byte> sent, size_t descriptors) {
  Require(connection.valid() == (received == Received::kConnection),
          "a descriptor with a connection and with nothing else");
  if (sent.empty()) return;
  HandoffFrame meant = {};
  std::memcpy(&meant, sent.data(), std::min(sent.size(), sizeof(meant)));
  const bool whole = IsWholeFrame(meant, sent.size());
  const bool bell = whole && meant.kind == FrameKind::kDoorbell;
  const bool fits = descriptors <= kMaxDescriptorsPerMessage;
  Require((received == Received::kConnection) == (whole && !bell && descriptors == 1),
          "a connection is a whole frame with one descriptor");
  Require((received == Received::kBell) == (bell && fits), "a bell is a whole frame");
  if (received != Received::kConnection) return;
  Require(std::memcmp(&frame, sent.data(), sent.size()) == 0, "the frame is what was sent");
  Require(frame.peer_length <= kMaxPeerAddressBytes, "an address that fits");
}

void CheckOnce(std::span<const std::byte> sent, size_t descriptors, bool careful) {
  auto pair = MakeMessagePair();
  Require(pair.ok(), "a pair");
  const int numbers[kMaxDescriptorsPerMessage] = {0, 1, 2, 0};
  const auto done =
      SendWithDescriptors(pair->first.get(), {}, sent, {numbers, descriptors}, MSG_DONTWAIT);
  if (!done) return;
  HandoffFrame frame;
  UniqueFd connection;
  const Received received =
      client::ReceiveFrame(pair->second.get(), careful, OverExec::kClosed, &frame, &connection);
  CheckTaken(received, frame, connection, sent, descriptors);
}

}  // namespace
}  // namespace ringdeal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringdeal;
  if (size < 2) return 0;
  const size_t descriptors = data[0] % (kMaxDescriptorsPerMessage + 1);
  const auto sent = std::as_bytes(std::span(data + 1, size - 1));
  const int free_before = LowestFree();
  for (const bool careful : {false, true}) CheckOnce(sent, descriptors, careful);
  Require(LowestFree() == free_before, "no descriptor stays open");
  return 0;
}
