#include "daemon/operating/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "daemon/operating/options.h"
#include "daemon/operating/reloader.h"
#include "protocol/descriptor_passing.h"
#include "protocol/socket_address.h"
#include "protocol/socket_identity.h"
#include "tests/unit/temporary_directory.h"

namespace ringdeal {
namespace {

// Is the service manager.
class ServiceManagerTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = directory_ / "notify";
    SocketAddress address;
    ASSERT_TRUE(ParseAddress(("unix:" + path).c_str(), &address));
    told_ = UniqueFd(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0));
    ASSERT_EQ(bind(told_.get(), address.get(), address.length), 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  void TearDown() override { unsetenv("NOTIFY_SOCKET"); }

  // What was said next, and what came with it.
  std::string Next(UniqueFd* descriptor = nullptr) {
    std::string text(256, '\0');
    auto message = ReceiveWithDescriptors(
        told_.get(), std::as_writable_bytes(std::span(text.data(), text.size())), MSG_DONTWAIT);
    if (!message) return "nothing";
    if (descriptor != nullptr) *descriptor = std::move(message->descriptors[0]);
    EXPECT_EQ(message->descriptor_count, descriptor != nullptr ? 1U : 0U);
    text.resize(message->bytes);
    return text;
  }

  const TemporaryDirectory directory_;
  UniqueFd told_;
};

TEST_F(ServiceManagerTest, KeepsOneSocketOfAListenerAndNoEarlierOne) {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM, 0));
  StoreListener("web", listener.get());
  EXPECT_EQ(Next(), "FDSTOREREMOVE=1\nFDNAME=@web");
  UniqueFd stored;
  EXPECT_EQ(Next(&stored), "FDSTORE=1\nFDNAME=@web");
  const auto one = IdentityOf(listener.get());
  const auto other = IdentityOf(stored.get());
  EXPECT_TRUE(one && other && *one == *other);
}

TEST_F(ServiceManagerTest, KeepsNothingOfAListenerThatIsGone) {
  ForgetStoredListener("web");
  EXPECT_EQ(Next(), "FDSTOREREMOVE=1\nFDNAME=@web");
  EXPECT_EQ(Next(), "nothing");
}

TEST_F(ServiceManagerTest, IsToldNothingWhereThereIsNone) {
  unsetenv("NOTIFY_SOCKET");
  NotifyServiceManager("READY=1");
  EXPECT_EQ(Next(), "nothing");
}

TEST(ServiceDirectory, IsTheFirstOfThoseThatAreGiven) {
  const char* const kVariable = "RUNTIME_DIRECTORY";
  EXPECT_EQ(ServiceDirectory(kVariable), "");
  const std::pair<const char*, const char*> kCases[] = {{"/run/a", "/run/a"},
                                                        {"/run/a:/run/b", "/run/a"},
                                                        {"", ""},
                                                        {"relative", ""},
                                                        {":/run/b", ""}};
  for (const auto& [given, directory] : kCases) {
    setenv(kVariable, given, 1);
    EXPECT_EQ(ServiceDirectory(kVariable), directory) << given;
  }
  setenv("CONFIGURATION_DIRECTORY", "/etc/one", 1);
  setenv(kVariable, "/run/one", 1);
  EXPECT_EQ(DefaultConfigPath(), "/etc/one/ringdeal.yaml");
  EXPECT_EQ(WithDefaultPath({}).control.path, "/run/one/control.sock");
  Config named;
  named.control.path = "/elsewhere";
  EXPECT_EQ(WithDefaultPath(named).control.path, "/elsewhere");
  unsetenv("CONFIGURATION_DIRECTORY");
  unsetenv(kVariable);
}

}  // namespace
}  // namespace ringdeal
