#include "daemon/operating/failpoint.h"

#ifdef RINGDEAL_FAILPOINTS

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "protocol/unique_fd.h"
#include "tests/unit/temporary_directory.h"

namespace ringdeal {
namespace {

TEST(Failpoint, DoesNothingWithoutAHandler) {
  errno = 77;
  RINGDEAL_FAILPOINT("nobody-asked");
  EXPECT_EQ(errno, 77);
}

TEST(Failpoint, CallsTheHandlerOfItsNameOnly) {
  int calls = 0;
  failpoint::SetHandler("here", [&] { ++calls; });
  RINGDEAL_FAILPOINT("there");
  EXPECT_EQ(calls, 0);
  RINGDEAL_FAILPOINT("here");
  RINGDEAL_FAILPOINT("here");
  EXPECT_EQ(calls, 2);
  failpoint::SetHandler("here", {});
  RINGDEAL_FAILPOINT("here");
  EXPECT_EQ(calls, 2);
}

TEST(Failpoint, KeepsErrnoOfItsSurroundings) {
  failpoint::SetHandler("here", [] { errno = EIO; });
  errno = 77;
  RINGDEAL_FAILPOINT("here");
  EXPECT_EQ(errno, 77);
  failpoint::SetHandler("here", {});
}

TEST(Failpoint, HoldsOneThreadAndNoOther) {
  std::promise<void> reached;
  std::promise<void> go;
  failpoint::SetHandler("held", [&] {
    reached.set_value();
    go.get_future().wait();
  });
  int free_passages = 0;
  failpoint::SetHandler("free", [&] { ++free_passages; });
  std::atomic<bool> passed = false;
  std::thread thread([&] {
    RINGDEAL_FAILPOINT("held");
    passed = true;
  });
  reached.get_future().wait();
  RINGDEAL_FAILPOINT("free");  // not kept waiting by the held one
  EXPECT_EQ(free_passages, 1);
  EXPECT_FALSE(passed);
  failpoint::SetHandler("held", {});  // while it runs
  go.set_value();
  thread.join();
  EXPECT_TRUE(passed);
  failpoint::SetHandler("free", {});
}

// A test process that holds this one: it listens on a socket of its own.
class FailpointSocket : public testing::Test {
 protected:
  void SetUp() override {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    listener_ = UniqueFd(socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(listen(listener_.get(), 1), 0);
    setenv("RINGDEAL_FAILPOINT_SOCKET", path_.c_str(), 1);
    setenv("RINGDEAL_FAILPOINT_NAMES", "first,second", 1);
    failpoint::ReadEnvironment();
  }

  void TearDown() override {
    unsetenv("RINGDEAL_FAILPOINT_SOCKET");
    unsetenv("RINGDEAL_FAILPOINT_NAMES");
    failpoint::ReadEnvironment();
  }

  // Accepts one passage and returns its connection, after having read the name.
  UniqueFd Meet(std::string* name) {
    UniqueFd connection(accept(listener_.get(), nullptr, nullptr));
    for (char byte; read(connection.get(), &byte, 1) == 1 && byte != '\n';) name->push_back(byte);
    return connection;
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_ / "socket";
  UniqueFd listener_;
};

TEST_F(FailpointSocket, HoldsUntilAByteComes) {
  std::atomic<bool> passed = false;
  std::thread thread([&] {
    errno = 77;
    RINGDEAL_FAILPOINT("second");
    EXPECT_EQ(errno, 77);
    passed = true;
  });
  std::string name;
  UniqueFd connection = Meet(&name);
  EXPECT_EQ(name, "second");
  EXPECT_FALSE(passed);
  EXPECT_EQ(write(connection.get(), "x", 1), 1);
  thread.join();
  EXPECT_TRUE(passed);
}

TEST_F(FailpointSocket, LetsGoWhenTheHolderIsGone) {
  std::thread thread([] { RINGDEAL_FAILPOINT("first"); });
  std::string name;
  Meet(&name).Reset();
  thread.join();
  EXPECT_EQ(name, "first");
}

TEST_F(FailpointSocket, PassesNamesThatWereNotListed) { RINGDEAL_FAILPOINT("third"); }

TEST_F(FailpointSocket, GoesOnWhenNobodyListens) {
  listener_.Reset();
  errno = 77;
  RINGDEAL_FAILPOINT("first");
  EXPECT_EQ(errno, 77);
}

TEST_F(FailpointSocket, PrefersAHandlerInTheProcess) {
  int calls = 0;
  failpoint::SetHandler("first", [&] { ++calls; });
  RINGDEAL_FAILPOINT("first");
  EXPECT_EQ(calls, 1);
  failpoint::SetHandler("first", {});
}

}  // namespace
}  // namespace ringdeal

#endif
