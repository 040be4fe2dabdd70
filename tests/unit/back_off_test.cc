#include "client-shim/client/back_off.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace ringdeal::client {
namespace {

constexpr uint64_t kMs = 1'000'000;

TEST(BackOffTest, DoublesFromATenthOfASecondToOne) {
  const uint64_t longest[] = {100, 200, 400, 800, 1000, 1000};
  for (unsigned failures = 0; failures < std::size(longest); ++failures) {
    for (uint64_t seed = 0; seed < 1000; ++seed) {
      const uint64_t delay = DelayOfAttempt(failures, seed);
      EXPECT_LE(delay, longest[failures] * kMs);
      EXPECT_GT(delay, longest[failures] * kMs / 2);
    }
  }
}

TEST(BackOffTest, StaysAtASecondHoweverOftenItFails) {
  for (const unsigned failures : {31U, 32U, 63U, 64U, ~0U}) {
    EXPECT_LE(DelayOfAttempt(failures, 7), 1000 * kMs);
    EXPECT_GT(DelayOfAttempt(failures, 7), 500 * kMs);
  }
}

TEST(BackOffTest, NeighbouringProcessesDoNotComeTogether) {
  std::set<uint64_t> moments;
  for (uint64_t pid = 4000; pid < 4064; ++pid) moments.insert(DelayOfAttempt(4, pid) / (10 * kMs));
  EXPECT_GT(moments.size(), 25U) << "of the 50 hundredths of a second that there are";
}

TEST(BackOffTest, LooksForAnAnswerOftenAtFirst) {
  EXPECT_EQ(DelayOfLook(0), 10 * kMs);
  EXPECT_EQ(DelayOfLook(100 * kMs), 10 * kMs);
  EXPECT_EQ(DelayOfLook(1000 * kMs), 100 * kMs);
  EXPECT_EQ(DelayOfLook(UINT64_MAX), 1000 * kMs);
}

}  // namespace
}  // namespace ringdeal::client
