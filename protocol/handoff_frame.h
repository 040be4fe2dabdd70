// The datagram that carries one connection, or a doorbell, through a channel. Its layout is fixed
// in docs/protocol.md. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringdeal {

// A connection comes with exactly one descriptor, an accepted socket; kDoorbell with none: whoever
// receives it raises `rung` in its page and shows by what it does next what it is. kNonBlocking, a
// connection that is O_NONBLOCK already, is only sent to who has said in its page that it wants
// that.
enum class FrameKind : uint32_t { kConnection = 1, kDoorbell = 2, kNonBlocking = 3 };

inline bool IsConnection(FrameKind kind) {
  return kind == FrameKind::kConnection || kind == FrameKind::kNonBlocking;
}

inline constexpr size_t kMaxPeerAddressBytes = 128;  // sizeof(sockaddr_storage)

struct HandoffFrame {
  FrameKind kind;
  uint32_t peer_length;  // bytes of `peer` that are sent, 0 for a doorbell
  uint64_t sequence;     // grows by one with each frame of a channel, starting at 1
  unsigned char
      peer[kMaxPeerAddressBytes];  // the sockaddr that accept returned, as the kernel wrote it
};

inline constexpr size_t kFrameHeadBytes = offsetof(HandoffFrame, peer);
static_assert(kFrameHeadBytes == 16);
static_assert(sizeof(HandoffFrame) == 144);

// The bytes of a frame that cross the channel.
inline size_t FrameBytes(const HandoffFrame& frame) { return kFrameHeadBytes + frame.peer_length; }

// True if `bytes` received bytes are one whole frame of a known kind.
inline bool IsWholeFrame(const HandoffFrame& frame, size_t bytes) {
  return bytes >= kFrameHeadBytes && frame.peer_length <= kMaxPeerAddressBytes &&
         bytes == FrameBytes(frame) &&
         (IsConnection(frame.kind) || frame.kind == FrameKind::kDoorbell);
}

}  // namespace ringdeal
