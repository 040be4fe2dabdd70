#include "daemon/workers/adoption.h"

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>

#include <gtest/gtest.h>

#include "daemon/accepting/listening_socket.h"

namespace ringdeal {
namespace {

using std::chrono::milliseconds;

class AdoptionTest : public testing::Test {
 protected:
  explicit AdoptionTest(milliseconds drain_timeout = milliseconds(60'000)) {
    config_.drain_timeout = drain_timeout;
    ListenerConfig bound;
    bound.bind = "127.0.0.1:0";
    listener_ = std::make_shared<Listener>(bound, /*owned=*/false, geteuid(), config_.limits);
    Result<UniqueFd, ListenError> socket = OpenListeningSocket(bound);
    if (!socket || !listener_->AddSocket(std::move(*socket), 0)) std::abort();
    listeners_.Add(listener_);
  }
  ~AdoptionTest() override {
    if (IsThere()) listeners_.Remove(listener_, [] {});
  }

  // As if it came out of the channel of a worker that has left.
  void KeepAConnection() {
    Connection connection;
    connection.socket = UniqueFd(socket(AF_INET, SOCK_STREAM, 0));
    listener_->dealer().DealAgain(std::move(connection),
                                  {.channel = nullptr, .slot = 0, .worker_id = 0}, /*now_ns=*/0);
  }
  bool IsThere() const { return listeners_.Contains(listener_); }

  Config config_;
  EventLoop loop_;
  ListenerTable listeners_{1, {[] {}, [](const auto&) {}, [](const auto&, int) {}}};
  Notebook notebook_;
  std::shared_ptr<Listener> listener_;
  bool has_workers_ = false;
  Adoption adoption_{&loop_,
                     config_,
                     Self{},
                     &listeners_,
                     &notebook_,
                     {[this](const auto&) { return has_workers_; },
                      [this](const auto&) { return has_workers_; }, [](auto) { return true; }}};
};

class ImpatientAdoptionTest : public AdoptionTest {
 protected:
  ImpatientAdoptionTest() : AdoptionTest(milliseconds(1)) {}
};

TEST_F(AdoptionTest, LetsGoWhatNobodyUses) {
  adoption_.LetGoIfUnused(listener_);
  EXPECT_FALSE(IsThere());
}

TEST_F(AdoptionTest, KeepsWhatHasWorkers) {
  has_workers_ = true;
  adoption_.LetGoIfUnused(listener_);
  EXPECT_TRUE(IsThere());
}

// The end of the last worker and the end of its door.
TEST_F(AdoptionTest, DropsNoConnectionForASecondSignOfTheSameEnd) {
  KeepAConnection();
  adoption_.LetGoIfUnused(listener_);
  adoption_.LetGoIfUnused(listener_);
  EXPECT_TRUE(IsThere());
}

TEST_F(ImpatientAdoptionTest, LetsGoWhenNoWorkerComesInTime) {
  KeepAConnection();
  adoption_.LetGoIfUnused(listener_);
  EXPECT_TRUE(IsThere());
  const auto look = loop_.MakeTimer([this] { loop_.Stop(); });
  look->Arm(milliseconds(100));
  loop_.Run();
  EXPECT_FALSE(IsThere());
}

}  // namespace
}  // namespace ringdeal
