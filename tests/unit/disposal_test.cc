#include "daemon/workers/disposal.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/socket_pair.h"

namespace ringdeal {
namespace {

TEST(Disposal, LeavesNothingOpen) {
  std::vector<UniqueFd> others;
  for (int i = 0; i < 200; ++i) {
    auto pair = MakeStreamPair();
    others.push_back(std::move(pair->first));
    Dispose(std::move(pair->second));
  }
  for (const UniqueFd& other : others) {
    char byte;
    EXPECT_EQ(recv(other.get(), &byte, 1, 0), 0) << "waits until the other end is closed";
  }
}

TEST(Disposal, DoesNothingWithoutADescriptor) { Dispose(UniqueFd()); }

}  // namespace
}  // namespace ringdeal
