#include "daemon/operating/heartbeat.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace ringdeal {
namespace {

using std::chrono::milliseconds;

class HeartbeatTest : public testing::Test {
 protected:
  void TearDown() override {
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
  }
  static void Ask(const char* microseconds, const std::string& pid = std::to_string(getpid())) {
    setenv("WATCHDOG_USEC", microseconds, 1);
    setenv("WATCHDOG_PID", pid.c_str(), 1);
  }
};

TEST_F(HeartbeatTest, BeatsFourTimesWithinWhatIsAllowed) {
  Ask("2000000");
  EXPECT_EQ(HeartbeatInterval(), milliseconds(500));
}

TEST_F(HeartbeatTest, AsksNoPidOfAServiceManagerThatNamesNone) {
  setenv("WATCHDOG_USEC", "40000", 1);
  EXPECT_EQ(HeartbeatInterval(), milliseconds(10));
}

TEST_F(HeartbeatTest, IsSilentWhereNobodyListens) { EXPECT_FALSE(HeartbeatInterval()); }

TEST_F(HeartbeatTest, IsSilentIfAnotherProcessIsMeant) {
  Ask("2000000", std::to_string(getppid()));
  EXPECT_FALSE(HeartbeatInterval());
}

TEST_F(HeartbeatTest, TakesNothingElseForATime) {
  for (const char* text : {"", "0", "-5", "2s", "20000000 ", "99999999999999999999999"}) {
    Ask(text);
    EXPECT_FALSE(HeartbeatInterval()) << text;
  }
}

}  // namespace
}  // namespace ringdeal
