#include <gtest/gtest.h>

#include "protocol/handoff_frame.h"

namespace ringdeal {
namespace {

HandoffFrame Frame(FrameKind kind, uint32_t peer_length) {
  HandoffFrame frame = {};
  frame.kind = kind;
  frame.peer_length = peer_length;
  frame.sequence = 1;
  return frame;
}

TEST(HandoffFrame, EveryLengthButItsOwnIsRefused) {
  for (const uint32_t peer_length : {0u, 2u, 16u, 28u, 110u, 128u}) {
    const HandoffFrame frame = Frame(FrameKind::kConnection, peer_length);
    for (size_t bytes = 0; bytes <= sizeof(HandoffFrame) + 8; ++bytes) {
      EXPECT_EQ(IsWholeFrame(frame, bytes), bytes == 16 + peer_length)
          << bytes << " bytes with an address of " << peer_length;
    }
  }
}

TEST(HandoffFrame, AnAddressLongerThanTheFrameIsRefused) {
  for (const uint32_t peer_length : {129u, 0x80000000u, 0xfffffff0u, 0xffffffffu}) {
    const HandoffFrame frame = Frame(FrameKind::kConnection, peer_length);
    EXPECT_FALSE(IsWholeFrame(frame, 16 + static_cast<size_t>(peer_length)));
    EXPECT_FALSE(IsWholeFrame(frame, static_cast<uint32_t>(16 + peer_length)));
    EXPECT_FALSE(IsWholeFrame(frame, sizeof(HandoffFrame)));
  }
}

TEST(HandoffFrame, AnUnknownKindIsRefused) {
  for (const uint32_t kind : {0u, 4u, 0x100u, 0xffffffffu}) {
    EXPECT_FALSE(IsWholeFrame(Frame(static_cast<FrameKind>(kind), 16), 32)) << kind;
  }
  EXPECT_TRUE(IsWholeFrame(Frame(FrameKind::kDoorbell, 0), 16));
  EXPECT_TRUE(IsWholeFrame(Frame(FrameKind::kConnection, 16), 32));
  EXPECT_TRUE(IsWholeFrame(Frame(FrameKind::kNonBlocking, 16), 32));
}

// The bytes of docs/protocol.md.
TEST(HandoffFrame, IsTheDocumentedOne) {
  EXPECT_EQ(offsetof(HandoffFrame, kind), 0u);
  EXPECT_EQ(offsetof(HandoffFrame, peer_length), 4u);
  EXPECT_EQ(offsetof(HandoffFrame, sequence), 8u);
  EXPECT_EQ(offsetof(HandoffFrame, peer), 16u);
  EXPECT_EQ(FrameBytes(Frame(FrameKind::kConnection, 28)), 44u);
  EXPECT_EQ(static_cast<uint32_t>(FrameKind::kConnection), 1u);
  EXPECT_EQ(static_cast<uint32_t>(FrameKind::kDoorbell), 2u);
  EXPECT_EQ(static_cast<uint32_t>(FrameKind::kNonBlocking), 3u);
}

}  // namespace
}  // namespace ringdeal
