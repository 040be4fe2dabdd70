#include "daemon/operating/event_loop.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/unique_fd.h"

namespace ringdeal {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

struct Pair {
  Pair() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
    left = UniqueFd(ends[0]);
    right = UniqueFd(ends[1]);
  }
  UniqueFd left;
  UniqueFd right;
};

TEST(EventLoop, KeepsTheOrderOfEachPoster) {
  EventLoop loop;
  std::thread runner([&] { loop.Run(); });
  constexpr int kPosters = 4;
  constexpr int kPosts = 2000;
  std::vector<int> seen[kPosters];  // the loop's thread only, until the join
  std::vector<std::thread> posters;
  for (int poster = 0; poster < kPosters; ++poster) {
    posters.emplace_back([&, poster] {
      for (int i = 0; i < kPosts; ++i) loop.Post([&, poster, i] { seen[poster].push_back(i); });
    });
  }
  for (auto& poster : posters) poster.join();
  loop.Stop();
  runner.join();
  for (const auto& order : seen) {
    ASSERT_EQ(order.size(), static_cast<size_t>(kPosts));
    for (int i = 0; i < kPosts; ++i) ASSERT_EQ(order[i], i);
  }
}

TEST(EventLoop, RunsPostsOnItsOwnThread) {
  EventLoop loop;
  std::thread runner([&] { loop.Run(); });
  std::promise<std::thread::id> where;
  loop.Post([&] { where.set_value(std::this_thread::get_id()); });
  EXPECT_EQ(where.get_future().get(), runner.get_id());
  loop.Stop();
  runner.join();
}

TEST(EventLoop, DoesNotForgetAStopThatComesBeforeRun) {
  EventLoop loop;
  loop.Stop();
  loop.Run();  // the test ends
}

TEST(EventLoop, WaitsForStopWithNothingToWatch) {
  EventLoop loop;
  std::atomic<bool> returned = false;
  std::thread runner([&] {
    loop.Run();
    returned = true;
  });
  std::promise<void> ran;
  loop.Post([&] { ran.set_value(); });
  ran.get_future().wait();
  EXPECT_FALSE(returned);
  loop.Stop();
  runner.join();
}

TEST(EventLoop, ReadsDescriptorsBesideWorkThatPostsItselfAnew) {
  EventLoop loop;
  Pair pair;
  auto watch = loop.WatchReadable(pair.left.get(), [&] { loop.Stop(); });
  ASSERT_TRUE(watch);
  ASSERT_EQ(write(pair.right.get(), "x", 1), 1);
  std::function<void()> again = [&] { loop.Post(again); };
  loop.Post(again);
  loop.Run();
}

TEST(EventLoop, CallsAgainWhileADescriptorIsReadable) {
  EventLoop loop;
  Pair pair;
  int calls = 0;
  auto watch = loop.WatchReadable(pair.left.get(), [&] {
    if (++calls == 3) loop.Stop();
  });
  ASSERT_EQ(write(pair.right.get(), "x", 1), 1);
  loop.Run();
  EXPECT_GE(calls, 3);
}

TEST(EventLoop, LetsAWatchBeDestroyedInItsOwnCallback) {
  EventLoop loop;
  Pair pair;
  int calls = 0;
  std::unique_ptr<EventLoop::Watch> watch;
  // Lives in the callback's captures: read after the watch is gone.
  auto token = std::make_shared<int>(7);
  watch = loop.WatchReadable(pair.left.get(), [&watch, &calls, &loop, token] {
    watch.reset();
    calls += *token;
    loop.Stop();
  });
  std::weak_ptr<int> alive = token;
  token.reset();
  ASSERT_EQ(write(pair.right.get(), "x", 1), 1);
  loop.Run();
  EXPECT_EQ(calls, 7);
  EXPECT_TRUE(alive.expired());
}

TEST(EventLoop, CallsNoWatchThatAnotherCallbackDestroyed) {
  EventLoop loop;
  Pair first;
  Pair second;
  int calls = 0;
  std::unique_ptr<EventLoop::Watch> watches[2];
  auto callback = [&] {
    ++calls;
    watches[0].reset();
    watches[1].reset();
    loop.Stop();
  };
  watches[0] = loop.WatchReadable(first.left.get(), callback);
  watches[1] = loop.WatchReadable(second.left.get(), callback);
  ASSERT_EQ(write(first.right.get(), "x", 1), 1);
  ASSERT_EQ(write(second.right.get(), "x", 1), 1);
  loop.Run();
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, IsSilentWhileAWatchIsDisabled) {
  EventLoop loop;
  Pair pair;
  int calls = 0;
  std::unique_ptr<EventLoop::Watch> watch = loop.WatchReadable(pair.left.get(), [&] {
    ++calls;
    watch->Disable();
    loop.Stop();
  });
  ASSERT_EQ(write(pair.right.get(), "x", 1), 1);
  watch->Disable();
  bool enabled = false;
  auto timer = loop.MakeTimer([&] {
    EXPECT_EQ(calls, 0);
    enabled = true;
    watch->Enable();
  });
  timer->Arm(milliseconds(20));
  loop.Run();
  EXPECT_TRUE(enabled);
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, LeavesTheDescriptorOfADestroyedWatchOpen) {
  EventLoop loop;
  Pair pair;
  loop.WatchWritable(pair.left.get(), [] {}).reset();
  EXPECT_EQ(write(pair.left.get(), "x", 1), 1);
}

TEST(EventLoop, SaysThatADescriptorCannotBeWatched) {
  EventLoop loop;
  Pair pair;
  const int number = pair.left.get();
  pair.left.Reset();
  EXPECT_FALSE(loop.WatchReadable(number, [] {}));
}

TEST(EventLoop, NeverFiresATimerEarly) {
  EventLoop loop;
  int rounds = 0;
  Clock::time_point armed;
  std::unique_ptr<EventLoop::Watch> timer;
  timer = loop.MakeTimer([&] {
    EXPECT_GE(Clock::now() - armed, milliseconds(3));
    if (++rounds == 20) return loop.Stop();
    armed = Clock::now();
    timer->Arm(milliseconds(3));
  });
  armed = Clock::now();
  timer->Arm(milliseconds(3));
  loop.Run();
}

TEST(EventLoop, FiresATimerOnce) {
  EventLoop loop;
  int fired = 0;
  auto timer = loop.MakeTimer([&] { ++fired; });
  auto end = loop.MakeTimer([&] { loop.Stop(); });
  timer->Arm(milliseconds(1));
  end->Arm(milliseconds(50));
  loop.Run();
  EXPECT_EQ(fired, 1);
}

TEST(EventLoop, MovesATimerThatIsArmedAgain) {
  EventLoop loop;
  const auto start = Clock::now();
  auto timer = loop.MakeTimer([&] { loop.Stop(); });
  timer->Arm(std::chrono::hours(1));
  timer->Arm(milliseconds(5));
  loop.Run();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(60));
}

TEST(EventLoop, HoldsADisarmedTimerBack) {
  EventLoop loop;
  int fired = 0;
  auto timer = loop.MakeTimer([&] { ++fired; });
  timer->Arm(milliseconds(1));
  timer->Disable();
  auto end = loop.MakeTimer([&] { loop.Stop(); });
  end->Arm(milliseconds(20));
  loop.Run();
  EXPECT_EQ(fired, 0);
}

TEST(EventLoop, ReportsASignal) {
  EventLoop loop;
  int calls = 0;
  auto watch = loop.WatchSignal(SIGUSR1, [&] {
    ++calls;
    loop.Stop();
  });
  loop.Post([] { kill(getpid(), SIGUSR1); });
  loop.Run();
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, DropsWorkThatNobodyRan) {
  auto token = std::make_shared<int>(1);
  std::weak_ptr<int> alive = token;
  {
    EventLoop loop;
    loop.Post([token] {});
    token.reset();
  }
  EXPECT_TRUE(alive.expired());
}

TEST(EventLoop, MayBeDestroyedAsSoonAsItStopped) {
  // The thread that stopped it may still be on its way out of Stop.
  for (int i = 0; i < 200; ++i) {
    auto loop = std::make_unique<EventLoop>();
    std::thread runner([&] { loop->Run(); });
    std::thread stopper([stopped = loop.get()] { stopped->Stop(); });
    runner.join();
    loop.reset();
    stopper.join();
  }
}

}  // namespace
}  // namespace ringdeal
