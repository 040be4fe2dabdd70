#include "daemon/accepting/listening_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "protocol/socket_identity.h"
#include "tests/unit/temporary_directory.h"

namespace ringdeal {
namespace {

class ListeningSocketTest : public testing::Test {
 protected:
  ListenerConfig At(const std::string& bind) {
    ListenerConfig config;
    config.name = "web";
    config.bind = bind;
    return config;
  }
  std::string path() const { return directory_ / "s"; }

  const TemporaryDirectory directory_;
};

TEST_F(ListeningSocketTest, IsNeverBlockingNorInherited) {
  const auto socket = OpenListeningSocket(At("127.0.0.1:0"));
  ASSERT_TRUE(socket) << socket.error().text;
  EXPECT_TRUE(IsListening(socket->get()));
  EXPECT_NE(fcntl(socket->get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(socket->get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(ListeningSocketTest, ListensOnIpv6AloneOnlyIfAsked) {
  for (const bool only : {false, true}) {
    ListenerConfig config = At("[::]:0");
    config.ipv6_only = only;
    const auto socket = OpenListeningSocket(config);
    if (!socket) GTEST_SKIP() << socket.error().text;
    int value = -1;
    socklen_t length = sizeof(value);
    getsockopt(socket->get(), IPPROTO_IPV6, IPV6_V6ONLY, &value, &length);
    EXPECT_EQ(value, only ? 1 : 0);
  }
}

TEST_F(ListeningSocketTest, SaysWhatIsWrongInOneLine) {
  const auto first = OpenListeningSocket(At("127.0.0.1:0"));
  ASSERT_TRUE(first);
  const auto second = OpenListeningSocket(At(LocalAddressText(first->get())));
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().text.find("listener web ("), std::string::npos);
  EXPECT_NE(second.error().text.find("Address already in use"), std::string::npos);
  EXPECT_EQ(second.error().text.find('\n'), std::string::npos);
}

TEST_F(ListeningSocketTest, TakesAStalePathOver) {
  { const auto stale = OpenListeningSocket(At("unix:" + path())); }
  ASSERT_TRUE(std::filesystem::exists(path())) << "nobody listens, the path is left";
  const auto socket = OpenListeningSocket(At("unix:" + path()));
  EXPECT_TRUE(socket) << socket.error().text;
}

TEST_F(ListeningSocketTest, DoesNotTakeAPathOnWhichSomebodyListens) {
  const auto first = OpenListeningSocket(At("unix:" + path()));
  const auto second = OpenListeningSocket(At("unix:" + path()));
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().text.find("another process listens"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(path()));
}

TEST_F(ListeningSocketTest, DoesNotRemoveAFileThatIsNoSocket) {
  std::ofstream(path()) << "precious";
  EXPECT_FALSE(OpenListeningSocket(At("unix:" + path())));
  EXPECT_EQ(std::filesystem::file_size(path()), 8u);
}

TEST_F(ListeningSocketTest, GivesAPathItsMode) {
  ListenerConfig config = At("unix:" + path());
  config.mode = 0640;
  ASSERT_TRUE(OpenListeningSocket(config));
  struct stat status = {};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(ListeningSocketTest, LeavesNoPathBehindIfItsOwnerIsUnknown) {
  ListenerConfig config = At("unix:" + path());
  config.owner = "no-such-user-here";
  EXPECT_FALSE(OpenListeningSocket(config));
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(ListeningSocketTest, KeepsItsAddressThroughAShutdown) {
  const auto socket = OpenListeningSocket(At("127.0.0.1:0"));
  ASSERT_TRUE(socket);
  SocketAddress address;
  ASSERT_TRUE(LocalAddressOf(socket->get(), &address));
  const std::string before = LocalAddressText(socket->get());
  ASSERT_EQ(shutdown(socket->get(), SHUT_RD), 0);
  ASSERT_FALSE(IsListening(socket->get()));
  ASSERT_TRUE(ListenAgain(socket->get(), address, 16));
  EXPECT_TRUE(IsListening(socket->get()));
  EXPECT_EQ(LocalAddressText(socket->get()), before);
}

TEST_F(ListeningSocketTest, OfAnEarlierOneAreNotTakenForWhatIsConfiguredElsewhereNow) {
  const auto socket = OpenListeningSocket(At("127.0.0.1:0"));
  ASSERT_TRUE(socket);
  EXPECT_TRUE(IsAsConfigured(socket->get(), At("127.0.0.1:0"))) << "whichever port it got";
  EXPECT_TRUE(IsAsConfigured(socket->get(), At(LocalAddressText(socket->get()))));
  EXPECT_FALSE(IsAsConfigured(socket->get(), At("127.0.0.1:1")));
  EXPECT_FALSE(IsAsConfigured(socket->get(), At("127.0.0.2:0")));
  EXPECT_FALSE(IsAsConfigured(socket->get(), At("unix:" + path())));
  const UniqueFd deaf(::socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_FALSE(IsAsConfigured(deaf.get(), At("0.0.0.0:0"))) << "does not listen";
}

TEST_F(ListeningSocketTest, OfAnEarlierOneThatLostItsPathIsNoneToBeReachedAt) {
  const auto socket = OpenListeningSocket(At("unix:" + path()));
  ASSERT_TRUE(socket);
  EXPECT_TRUE(IsAsConfigured(socket->get(), At("unix:" + path())));
  unlink(path().c_str());
  EXPECT_FALSE(IsAsConfigured(socket->get(), At("unix:" + path())));
}

TEST_F(ListeningSocketTest, ThatIsTakenBackHasTheModeThatIsConfiguredNow) {
  auto socket = OpenListeningSocket(At("unix:" + path()));
  ASSERT_TRUE(socket);
  ListenerConfig config = At("unix:" + path());
  config.mode = 0600;
  const auto taken = TakeBackSocket(socket->Release(), config);
  ASSERT_TRUE(taken) << taken.error().text;
  EXPECT_EQ(std::filesystem::status(path()).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(ListeningSocketTest, OfAnEarlierOneWhosePathAnotherBoundIsNoneToBeReachedAt) {
  const auto socket = OpenListeningSocket(At("unix:" + path()));
  ASSERT_TRUE(socket);
  unlink(path().c_str());
  const auto other = OpenListeningSocket(At("unix:" + path()));
  ASSERT_TRUE(other);
  EXPECT_TRUE(IsAsConfigured(other->get(), At("unix:" + path())));
  EXPECT_FALSE(IsAsConfigured(socket->get(), At("unix:" + path())));
}

TEST_F(ListeningSocketTest, ChangesNoFileThatALinkAtItsPathLeadsTo) {
  const auto socket = OpenListeningSocket(At("unix:" + path()));
  ASSERT_TRUE(socket);
  const std::string victim = directory_ / "victim";
  const auto other = OpenListeningSocket(At("unix:" + victim));
  ASSERT_TRUE(other);
  ASSERT_EQ(chmod(victim.c_str(), 0600), 0);
  unlink(path().c_str());
  std::filesystem::create_symlink(victim, path());
  ListenerConfig config = At("unix:" + path());
  config.mode = 0666;
  EXPECT_FALSE(SetPathOwner(config));
  struct stat status = {};
  ASSERT_EQ(stat(victim.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(ListeningSocketTest, ChangesNothingAtItsPathThatIsNoSocket) {
  std::ofstream(path()) << "precious";
  ASSERT_EQ(chmod(path().c_str(), 0600), 0);
  ListenerConfig config = At("unix:" + path());
  config.mode = 0666;
  EXPECT_FALSE(SetPathOwner(config));
  struct stat status = {};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

}  // namespace
}  // namespace ringdeal
