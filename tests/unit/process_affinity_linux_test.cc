#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/dealing/process_affinity.h"

namespace ringdeal {
namespace {

TEST(ProcessAffinity, IsThatOfTheProcessThatIsAskedFor) {
  const std::vector<int> own = ProcessAffinity(getpid());
  ASSERT_FALSE(own.empty());
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    cpu_set_t last;
    CPU_ZERO(&last);
    CPU_SET(static_cast<size_t>(own.back()), &last);
    const bool bound = sched_setaffinity(0, sizeof(last), &last) == 0;
    if (write(ready[1], bound ? "y" : "n", 1) == 1) pause();
    _exit(1);
  }
  char answer = 'n';
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_EQ(ProcessAffinity(child), (std::vector<int>{own.back()}));
  EXPECT_EQ(ProcessAffinity(getpid()), own);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  EXPECT_TRUE(ProcessAffinity(child).empty());
}

TEST(ProcessAffinity, IsUnknownOfAProcessInAnotherNamespace) {
  EXPECT_TRUE(ProcessAffinity(0).empty());
  EXPECT_TRUE(ProcessAffinity(-1).empty());
}

TEST(UsableCpus, AreThoseOfTheCallingThread) {
  const std::vector<int> all = UsableCpus();
  ASSERT_FALSE(all.empty());
  std::thread([&all] {
    cpu_set_t last;
    CPU_ZERO(&last);
    CPU_SET(static_cast<size_t>(all.back()), &last);
    ASSERT_EQ(sched_setaffinity(0, sizeof(last), &last), 0);
    EXPECT_EQ(UsableCpus(), (std::vector<int>{all.back()}));
  }).join();
  EXPECT_EQ(UsableCpus(), all);
}

}  // namespace
}  // namespace ringdeal
