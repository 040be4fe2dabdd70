#include <fcntl.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "protocol/nonblocking_listener.h"
#include "protocol/unique_fd.h"

namespace ringdeal {
namespace {

int FlagOf(int socket) { return fcntl(socket, F_GETFL) & O_NONBLOCK; }
int WantedOf(int socket) { return *StatusFlagsWanted(socket) & O_NONBLOCK; }

TEST(NonblockingListenerTest, WhatIsSetHereIsNotWanted) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
  const auto before = MakeListenerNonBlocking(socket.get());
  ASSERT_TRUE(before);
  EXPECT_EQ(*before & O_NONBLOCK, 0);
  EXPECT_NE(FlagOf(socket.get()), 0);
#if defined(__linux__)
  EXPECT_EQ(WantedOf(socket.get()), 0);
  EXPECT_EQ(*MakeListenerNonBlocking(socket.get()) & O_NONBLOCK, 0) << "the second time as well";
  EXPECT_NE(FlagOf(socket.get()), 0);
#endif
}

TEST(NonblockingListenerTest, WhatItsProgramSetIsWanted) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
  fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  EXPECT_NE(*MakeListenerNonBlocking(socket.get()) & O_NONBLOCK, 0);
  EXPECT_NE(WantedOf(socket.get()), 0);
}

TEST(NonblockingListenerTest, AClosedNumberIsAnError) {
  EXPECT_FALSE(StatusFlagsWanted(-1));
  EXPECT_FALSE(MakeListenerNonBlocking(-1));
}

}  // namespace
}  // namespace ringdeal
