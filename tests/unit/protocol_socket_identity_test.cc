#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include <gtest/gtest.h>

#include "protocol/descriptor_passing.h"
#include "protocol/peer_credentials.h"
#include "protocol/socket_identity.h"

namespace ringdeal {
namespace {

UniqueFd TcpSocket() { return UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

TEST(SocketIdentity, IsEqualAcrossDup) {
  const UniqueFd one = TcpSocket();
  const UniqueFd other(dup(one.get()));
  EXPECT_EQ(*IdentityOf(one.get()), *IdentityOf(other.get()));
  EXPECT_NE(IdentityOf(one.get())->cookie, 0u);
}

TEST(SocketIdentity, IsEqualAcrossDescriptorPassing) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  UniqueFd sender(ends[0]), receiver(ends[1]);
  const UniqueFd socket = TcpSocket();
  const int sent[] = {socket.get()};
  const std::byte byte{1};
  ASSERT_TRUE(SendWithDescriptors(sender.get(), {&byte, 1}, {}, sent, 0));
  std::byte data[1];
  Result<ReceivedMessage> received = ReceiveWithDescriptors(receiver.get(), data, 0);
  ASSERT_TRUE(received);
  ASSERT_EQ(received->descriptor_count, 1u);
  EXPECT_EQ(*IdentityOf(received->descriptors[0].get()), *IdentityOf(socket.get()));
}

TEST(SocketIdentity, IsEqualAcrossFork) {
  const UniqueFd socket = TcpSocket();
  const SocketIdentity identity = *IdentityOf(socket.get());
  const pid_t child = fork();
  if (child == 0) _exit(*IdentityOf(socket.get()) == identity ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(SocketIdentity, OfTwoSocketsDiffers) {
  const UniqueFd one = TcpSocket();
  const UniqueFd other = TcpSocket();
  EXPECT_NE(IdentityOf(one.get())->cookie, IdentityOf(other.get())->cookie);
  EXPECT_EQ(IdentityOf(one.get())->network, IdentityOf(other.get())->network);
}

TEST(SocketIdentity, WhatIsNoSocketHasNone) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  UniqueFd reader(ends[0]), writer(ends[1]);
  EXPECT_EQ(IdentityOf(reader.get()).error().number, ENOTSOCK);
  EXPECT_EQ(IdentityOf(-1).error().number, EBADF);
  EXPECT_FALSE(IsListening(reader.get()));
}

TEST(Listening, IsSeenAndItsEndToo) {
  const UniqueFd socket = TcpSocket();
  EXPECT_FALSE(IsListening(socket.get()));
  ASSERT_EQ(listen(socket.get(), 1), 0);
  EXPECT_TRUE(IsListening(socket.get()));
  ASSERT_EQ(shutdown(socket.get(), SHUT_RD), 0);
  EXPECT_FALSE(IsListening(socket.get()));
}

TEST(PeerCredentials, AreThoseOfWhoMadeThePair) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  UniqueFd one(ends[0]), other(ends[1]);
  Result<PeerCredentials> peer = PeerCredentialsOf(one.get());
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->pid, getpid());
  EXPECT_EQ(peer->uid, geteuid());
  EXPECT_EQ(peer->gid, getegid());
  EXPECT_FALSE(PeerCredentialsOf(-1));
}

TEST(PeerProcessDescriptor, BecomesReadableWhenThePeerEnds) {
  int ends[2], gate[2];
  ASSERT_EQ(pipe(gate), 0);
  // The credentials of a pair are those of its maker, so the child makes it and sends one end.
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  UniqueFd here(ends[0]), there(ends[1]), gate_out(gate[0]), gate_in(gate[1]);
  const pid_t child = fork();
  if (child == 0) {
    int pair[2];
    const std::byte byte{1};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) _exit(1);
    const int sent[] = {pair[0]};
    gate_in.Reset();
    if (!SendWithDescriptors(there.get(), {&byte, 1}, {}, sent, 0)) _exit(1);
    char end = 0;
    (void)!read(gate_out.get(), &end, 1);
    _exit(0);
  }
  gate_out.Reset();
  std::byte data[1];
  Result<ReceivedMessage> received = ReceiveWithDescriptors(here.get(), data, 0);
  ASSERT_TRUE(received);
  ASSERT_EQ(received->descriptor_count, 1u);
  EXPECT_EQ(PeerCredentialsOf(received->descriptors[0].get())->pid, child);
  Result<UniqueFd> process = PeerProcessDescriptor(received->descriptors[0].get());
  if (!process && process.error().number == ENOTSUP) {
    gate_in.Reset();
    waitpid(child, nullptr, 0);
    GTEST_SKIP() << "the kernel has no SO_PEERPIDFD";
  }
  ASSERT_TRUE(process);
  pollfd watch = {process->get(), POLLIN, 0};
  EXPECT_EQ(poll(&watch, 1, 0), 0) << "ended too early";
  gate_in.Reset();
  EXPECT_EQ(poll(&watch, 1, 10000), 1);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace ringdeal
