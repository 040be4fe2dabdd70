#include "daemon/accepting/accept_rate.h"

#include <deque>
#include <random>

#include <gtest/gtest.h>

namespace ringdeal {
namespace {

constexpr uint64_t kStart = 5'000'000'000;
constexpr uint64_t kSecond = 1'000'000'000;

// Accepts whenever it may until `until_ns`; connections always wait.
uint64_t AcceptAll(AcceptRate* rate, uint64_t per_second, uint64_t now_ns, uint64_t until_ns) {
  uint64_t accepted = 0;
  while (now_ns < until_ns) {
    const uint64_t wait = rate->WaitNs(per_second, now_ns);
    if (wait == 0) {
      rate->Take(per_second, now_ns);
      ++accepted;
    }
    now_ns += wait;
  }
  return accepted;
}

TEST(AcceptRate, DoesNotLimitWithoutARate) {
  AcceptRate rate;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(rate.WaitNs(0, kStart), 0u);
    rate.Take(0, kStart);
  }
}

TEST(AcceptRate, LetsNoMoreThanATenthOfASecondThroughAtOnce) {
  for (const auto& [per_second, burst] : {std::pair{1u, 1u}, {9u, 1u}, {20u, 2u}, {1000u, 100u}}) {
    AcceptRate rate;
    uint64_t accepted = 0;
    while (rate.WaitNs(per_second, kStart) == 0) {
      rate.Take(per_second, kStart);
      ++accepted;
    }
    EXPECT_EQ(accepted, burst);
  }
}

TEST(AcceptRate, DoesNotSaveUpMoreThanItsBurst) {
  AcceptRate rate;
  EXPECT_EQ(AcceptAll(&rate, 100, kStart, kStart + kSecond), 109u);
  EXPECT_EQ(AcceptAll(&rate, 100, kStart + 60 * kSecond, kStart + 60 * kSecond + 1), 10u);
}

TEST(AcceptRate, IsNeitherExceededNorMissedByLateWakeUps) {
  std::mt19937 random(1);
  for (const uint64_t per_second : {1, 3, 7, 10, 333, 5000, 1'000'000}) {
    AcceptRate rate;
    const uint64_t burst = std::max<uint64_t>(1, per_second / 10);
    std::deque<uint64_t> times;
    uint64_t now = kStart;
    for (int i = 0; i < 20'000; ++i) {
      now += rate.WaitNs(per_second, now) + random() % 5'000'000;
      for (int round = 0; round < 16 && rate.WaitNs(per_second, now) == 0; ++round) {
        rate.Take(per_second, now);
        times.push_back(now);
      }
      // In no second that ends now were there more.
      while (times.front() + kSecond <= now) times.pop_front();
      ASSERT_LE(times.size(), per_second + burst);
    }
    AcceptRate steady;
    const uint64_t accepted = AcceptAll(&steady, per_second, kStart, kStart + 10 * kSecond);
    EXPECT_GE(accepted, 10 * per_second - per_second / 100);
    EXPECT_LE(accepted, 10 * per_second + burst);
  }
}

TEST(AcceptRate, ThatIsChangedCountsFromTheNextConnection) {
  AcceptRate rate;
  rate.Take(1, kStart);
  EXPECT_EQ(rate.WaitNs(1, kStart), kSecond);
  EXPECT_EQ(rate.WaitNs(0, kStart), 0u);
  EXPECT_LE(rate.WaitNs(1000, kStart + kSecond), 0u);
}

}  // namespace
}  // namespace ringdeal
