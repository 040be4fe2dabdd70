#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/descriptor_passing.h"

namespace ringdeal {
namespace {

#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76  // Linux 6.5
#endif

size_t OpenDescriptors() {
  return static_cast<size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

ino_t InodeOf(int descriptor) {
  struct stat status = {};
  EXPECT_EQ(fstat(descriptor, &status), 0);
  return status.st_ino;
}

bool IsCloseOnExec(int descriptor) { return (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0; }

std::span<const std::byte> Text(const char* text) {
  return {reinterpret_cast<const std::byte*>(text), std::strlen(text)};
}

// A sender and a receiver, and pipes to send.
class DescriptorPassing : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, GetParam(), 0, ends), 0);
    sender_.Reset(ends[0]);
    receiver_.Reset(ends[1]);
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(pipe(ends), 0);
      pipes_.emplace_back(ends[0]);
      pipes_.emplace_back(ends[1]);
    }
  }

  std::vector<int> Pipes(size_t count) const {
    std::vector<int> numbers;
    for (size_t i = 0; i < count; ++i) numbers.push_back(pipes_[i].get());
    return numbers;
  }

  // Sends more descriptors than the protocol ever does.
  void SendRaw(const std::vector<int>& descriptors) {
    char byte = 'x';
    iovec part = {&byte, 1};
    std::vector<unsigned char> control(CMSG_SPACE(descriptors.size() * sizeof(int)));
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
    ASSERT_EQ(sendmsg(sender_.get(), &message, 0), 1);
  }

  Result<ReceivedMessage> Receive(int flags = MSG_DONTWAIT) {
    return ReceiveWithDescriptors(receiver_.get(), buffer_, flags);
  }

  UniqueFd sender_;
  UniqueFd receiver_;
  std::vector<UniqueFd> pipes_;
  std::byte buffer_[64];
};

// Leaves no free descriptor number while it lives.
class FullDescriptorTable {
 public:
  explicit FullDescriptorTable(size_t leave_free = 0) {
    getrlimit(RLIMIT_NOFILE, &limit_);
    const rlimit small = {256, limit_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &small);
    for (int number = dup(0); number >= 0; number = dup(0)) fillers_.emplace_back(number);
    fillers_.resize(fillers_.size() - leave_free);
  }
  ~FullDescriptorTable() { setrlimit(RLIMIT_NOFILE, &limit_); }

 private:
  rlimit limit_ = {};
  std::vector<UniqueFd> fillers_;
};

TEST_P(DescriptorPassing, FourDescriptorsArriveInTheirOrderAndNoneIsLeftOver) {
  const size_t before = OpenDescriptors();
  const std::vector<int> sent = Pipes(4);
  ASSERT_TRUE(SendWithDescriptors(sender_.get(), Text("he"), Text("ad"), sent, 0));
  {
    Result<ReceivedMessage> received = Receive();
    ASSERT_TRUE(received);
    EXPECT_EQ(received->bytes, 4u);
    EXPECT_EQ(std::memcmp(buffer_, "head", 4), 0);
    ASSERT_EQ(received->descriptor_count, 4u);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(InodeOf(received->descriptors[i].get()), InodeOf(sent[i])) << i;
      EXPECT_TRUE(IsCloseOnExec(received->descriptors[i].get())) << i;
    }
    EXPECT_EQ(OpenDescriptors(), before + 4);
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_P(DescriptorPassing, AMessageWithoutDescriptorsBringsNone) {
  ASSERT_TRUE(SendWithDescriptors(sender_.get(), Text("x"), {}, {}, 0));
  Result<ReceivedMessage> received = Receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->bytes, 1u);
  EXPECT_EQ(received->descriptor_count, 0u);
}

TEST_P(DescriptorPassing, SendingLeavesTheCallersDescriptorsOpen) {
  const std::vector<int> sent = Pipes(2);
  ASSERT_TRUE(SendWithDescriptors(sender_.get(), Text("x"), {}, sent, 0));
  EXPECT_GE(fcntl(sent[0], F_GETFD), 0);
  EXPECT_GE(fcntl(sent[1], F_GETFD), 0);
}

TEST_P(DescriptorPassing, FiveDescriptorsOrNoByteAreNotSent) {
  EXPECT_EQ(SendWithDescriptors(sender_.get(), Text("x"), {}, Pipes(5), 0).error().number, EINVAL);
  EXPECT_EQ(SendWithDescriptors(sender_.get(), {}, {}, Pipes(1), 0).error().number, EINVAL);
  EXPECT_EQ(Receive().error().number, EAGAIN);
}

TEST_P(DescriptorPassing, TooManyDescriptorsAreRefusedAndAllClosed) {
  const size_t before = OpenDescriptors();
  SendRaw(Pipes(5));
  EXPECT_EQ(Receive().error().number, EMSGSIZE);
  EXPECT_EQ(OpenDescriptors(), before);
  SendRaw(std::vector<int>(200, pipes_[0].get()));
  EXPECT_EQ(Receive().error().number, EMSGSIZE);
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_P(DescriptorPassing, NoFreeNumberIsEmfileAndWhatCameIsClosed) {
  ASSERT_TRUE(SendWithDescriptors(sender_.get(), Text("x"), {}, Pipes(1), 0));
  ASSERT_TRUE(SendWithDescriptors(sender_.get(), Text("y"), {}, Pipes(4), 0));
  size_t before = 0;
  {
    FullDescriptorTable full;
    EXPECT_EQ(Receive().error().number, EMFILE);
  }
  before = OpenDescriptors();
  {
    FullDescriptorTable full(2);  // room for two of four
    EXPECT_EQ(Receive().error().number, EMFILE);
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_P(DescriptorPassing, APeekAtTheLimitLosesNothing) {
  const std::vector<int> sent = Pipes(1);
  ASSERT_TRUE(SendWithDescriptors(sender_.get(), Text("x"), {}, sent, 0));
  {
    FullDescriptorTable full;
    EXPECT_EQ(Receive(MSG_PEEK | MSG_DONTWAIT).error().number, EMFILE);
  }
  Result<ReceivedMessage> received = Receive();
  ASSERT_TRUE(received);
  ASSERT_EQ(received->descriptor_count, 1u);
  EXPECT_EQ(InodeOf(received->descriptors[0].get()), InodeOf(sent[0]));
}

TEST_P(DescriptorPassing, APeekedDescriptorIsACopyOfTheOneThatIsTakenThen) {
  ASSERT_TRUE(SendWithDescriptors(sender_.get(), Text("x"), {}, Pipes(1), 0));
  Result<ReceivedMessage> peeked = Receive(MSG_PEEK | MSG_DONTWAIT);
  Result<ReceivedMessage> taken = Receive();
  ASSERT_TRUE(peeked);
  ASSERT_TRUE(taken);
  ASSERT_EQ(peeked->descriptor_count, 1u);
  ASSERT_EQ(taken->descriptor_count, 1u);
  EXPECT_NE(peeked->descriptors[0].get(), taken->descriptors[0].get());
  EXPECT_EQ(InodeOf(peeked->descriptors[0].get()), InodeOf(taken->descriptors[0].get()));
}

TEST_P(DescriptorPassing, TheEndOfTheOtherSideIsNoBytes) {
  sender_.Reset();
  Result<ReceivedMessage> received = Receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->bytes, 0u);
}

TEST_P(DescriptorPassing, SendingToAClosedEndIsEpipeAndNoSignal) {
  receiver_.Reset();
  const int error = SendWithDescriptors(sender_.get(), Text("x"), {}, Pipes(1), 0).error().number;
  EXPECT_EQ(error, EPIPE);  // SIGPIPE would have ended the test
}

// A receiver that asks the kernel for credentials or a pidfd, as a worker may do with the channel
// that it shares with ringdeald, must neither cost the connection nor leave a pidfd open.
TEST_P(DescriptorPassing, OtherControlDataCostsNoDescriptorAndLeavesNone) {
  const int on = 1;
  for (const int option : {SO_PASSCRED, SO_PASSPIDFD}) {
    if (setsockopt(receiver_.get(), SOL_SOCKET, option, &on, sizeof(on)) != 0) continue;
    const size_t before = OpenDescriptors();
    ASSERT_TRUE(SendWithDescriptors(sender_.get(), Text("x"), {}, {}, 0));
    ASSERT_TRUE(Receive());
    EXPECT_EQ(OpenDescriptors(), before) << "option " << option;
    ASSERT_TRUE(SendWithDescriptors(sender_.get(), Text("x"), {}, Pipes(4), 0));
    {
      Result<ReceivedMessage> received = Receive();
      ASSERT_TRUE(received) << "option " << option << ": " << strerror(received.error().number);
      EXPECT_EQ(received->descriptor_count, 4u);
    }
    EXPECT_EQ(OpenDescriptors(), before) << "option " << option;
  }
}

// Sends SIGALRM to the process every millisecond while it lives, to a handler without SA_RESTART.
class SignalStorm {
 public:
  SignalStorm() {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, &before_);
    const itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~SignalStorm() {
    const itimerval never = {};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_ = {};
};

TEST_P(DescriptorPassing, ABlockingReceiveAnswersEintrAsRecvmsgDoes) {
  SignalStorm storm;
  EXPECT_EQ(Receive(0).error().number, EINTR);
}

TEST_P(DescriptorPassing, ABlockedSendGoesOnAfterEintr) {
  while (SendWithDescriptors(sender_.get(), Text("x"), {}, {}, MSG_DONTWAIT)) {
  }
  ASSERT_EQ(errno, EAGAIN);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, nullptr);  // inherited: the signals meet the sender alone
  std::thread reader([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // some signals, for the send
    std::byte data[64];
    while (ReceiveWithDescriptors(receiver_.get(), data, MSG_DONTWAIT)) {
    }
  });
  pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
  {
    SignalStorm storm;
    EXPECT_TRUE(SendWithDescriptors(sender_.get(), Text("x"), {}, {}, 0));
  }
  reader.join();
}

INSTANTIATE_TEST_SUITE_P(Sockets, DescriptorPassing,
                         testing::Values(static_cast<int>(SOCK_STREAM),
                                         static_cast<int>(SOCK_SEQPACKET)),
                         [](const testing::TestParamInfo<int>& info) {
                           return info.param == SOCK_STREAM ? "Stream" : "SeqPacket";
                         });

TEST(DescriptorPassingOfFrames, ADatagramThatDoesNotFitIsRefusedAndItsDescriptorClosed) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  UniqueFd sender(ends[0]), receiver(ends[1]);
  const size_t before = OpenDescriptors();
  const int sent[] = {ends[0]};
  ASSERT_TRUE(SendWithDescriptors(sender.get(), Text("longer"), Text(" than that"), sent, 0));
  std::byte small[4];
  EXPECT_EQ(ReceiveWithDescriptors(receiver.get(), small, MSG_DONTWAIT).error().number, EMSGSIZE);
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST(DescriptorPassingOfLines, TheRestOfAStreamMessageFollowsWithoutDescriptors) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  UniqueFd sender(ends[0]), receiver(ends[1]);
  const int sent[] = {ends[0]};
  ASSERT_TRUE(SendWithDescriptors(sender.get(), Text("abc"), Text("def"), sent, 0));
  std::byte part[3];
  Result<ReceivedMessage> first = ReceiveWithDescriptors(receiver.get(), part, MSG_DONTWAIT);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->descriptor_count, 1u);
  Result<ReceivedMessage> second = ReceiveWithDescriptors(receiver.get(), part, MSG_DONTWAIT);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->bytes, 3u);
  EXPECT_EQ(second->descriptor_count, 0u);
}

}  // namespace
}  // namespace ringdeal
