#include <arpa/inet.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "protocol/socket_address.h"
#include "protocol/unique_fd.h"

namespace ringdeal {
namespace {

std::string Formatted(const SocketAddress& address) {
  char text[kMaxAddressText];
  return FormatAddress(address, text, sizeof(text)) ? text : "(refused)";
}

std::string ThereAndBack(const std::string& text) {
  SocketAddress address;
  return ParseAddress(text.c_str(), &address) ? Formatted(address) : "(no address)";
}

TEST(AddressText, ComesBackAsItWas) {
  for (const char* text : {"127.0.0.1:8080", "0.0.0.0:0", "255.255.255.255:65535", "[::]:443",
                           "[::1]:0", "[2001:db8::1]:65535", "unix:/run/app.sock", "unix:relative",
                           "unix:@name", "unix:@/run/x", "unix:/with space:and colon"}) {
    EXPECT_EQ(ThereAndBack(text), text);
  }
  const std::string longest = "unix:" + std::string(107, 'p');
  EXPECT_EQ(ThereAndBack(longest), longest);
}

TEST(AddressText, HasOneFormForEachAddress) {
  EXPECT_EQ(ThereAndBack("*:80"), "0.0.0.0:80");
  EXPECT_EQ(ThereAndBack("[::ffff:127.0.0.1]:80"), "127.0.0.1:80");
  EXPECT_EQ(ThereAndBack("[2001:DB8:0:0::1]:80"), "[2001:db8::1]:80");
}

TEST(AddressText, WhatIsNoAddressIsRefused) {
  for (const char* text : {"",
                           ":",
                           ":80",
                           "80",
                           "127.0.0.1",
                           "127.0.0.1:",
                           "127.0.0.1:65536",
                           "127.0.0.1:-1",
                           "127.0.0.1:+1",
                           "127.0.0.1: 80",
                           "127.0.0.1:80 ",
                           "127.0.0.1:8o",
                           "127.0.0.1:99999999999999999999",
                           "127.0.0:80",
                           "256.0.0.1:80",
                           "localhost:80",
                           "**:80",
                           "::1:80",
                           "[::1]",
                           "[::1]:",
                           "[::1]80",
                           "[::1]:65536",
                           "[]:80",
                           "[::g]:80",
                           "[::1:80",
                           "[127.0.0.1]:80",
                           "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:80",
                           "unix:",
                           "1234567890.1234567890.1234567890:80"}) {
    EXPECT_EQ(ThereAndBack(text), "(no address)") << '"' << text << '"';
  }
}

TEST(AddressText, APathThatDoesNotFitIsRefused) {
  EXPECT_EQ(ThereAndBack("unix:" + std::string(108, 'p')), "(no address)");
  EXPECT_EQ(ThereAndBack("unix:@" + std::string(107, 'p')), "(no address)");
  EXPECT_NE(ThereAndBack("unix:@" + std::string(106, 'p')), "(no address)");
}

TEST(AddressText, DoesNotWriteInPart) {
  for (const char* text : {"127.0.0.1:8080", "[::1]:8080", "unix:/run/x", "unix:@name"}) {
    SocketAddress address;
    ASSERT_TRUE(ParseAddress(text, &address));
    char out[64];
    for (size_t size = 1; size <= std::strlen(text); ++size) {
      EXPECT_FALSE(FormatAddress(address, out, size)) << text << ' ' << size;
    }
    EXPECT_TRUE(FormatAddress(address, out, std::strlen(text) + 1)) << text;
  }
}

TEST(AddressText, AnUnknownFamilyIsRefused) {
  SocketAddress address;
  address.storage.ss_family = AF_UNSPEC;
  EXPECT_EQ(Formatted(address), "(refused)");
}

// Two abstract names that differ after a zero byte are two addresses: a text that ends there would
// make them one.
TEST(AddressText, AnAbstractNameWithAZeroByteHasNone) {
  SocketAddress address;
  auto* name = reinterpret_cast<sockaddr_un*>(&address.storage);
  name->sun_family = AF_UNIX;
  std::memcpy(name->sun_path, "\0a\0b", 4);
  address.length = offsetof(sockaddr_un, sun_path) + 4;
  EXPECT_EQ(Formatted(address), "(refused)");
}

TEST(LocalAddress, IsTheOneThatTheKernelGave) {
  UniqueFd socket(::socket(AF_INET6, SOCK_STREAM, 0));
  SocketAddress asked;
  ASSERT_TRUE(ParseAddress("[::ffff:127.0.0.1]:0", &asked));
  ASSERT_EQ(bind(socket.get(), asked.get(), asked.length), 0);
  SocketAddress given;
  ASSERT_TRUE(LocalAddressOf(socket.get(), &given));
  EXPECT_EQ(given.family(), AF_INET6);
  const std::string text = Formatted(given);
  EXPECT_EQ(text.rfind("127.0.0.1:", 0), 0u) << text;
  EXPECT_NE(text, "127.0.0.1:0");
  EXPECT_FALSE(LocalAddressOf(-1, &given));
}

// What the kernel wrote must come out of ParseAddress equal to the byte, or a listener is not
// found.
TEST(LocalAddress, OfAUnixSocketEqualsItsText) {
  for (const std::string& text :
       {std::string("unix:@ringdeal-test-") + std::to_string(getpid()),
        "unix:" + testing::TempDir() + "ringdeal-" + std::to_string(getpid())}) {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    SocketAddress asked;
    ASSERT_TRUE(ParseAddress(text.c_str(), &asked));
    ASSERT_EQ(bind(socket.get(), asked.get(), asked.length), 0) << text;
    SocketAddress given;
    ASSERT_TRUE(LocalAddressOf(socket.get(), &given));
    EXPECT_EQ(Formatted(given), text);
    if (text[5] != '@') unlink(text.c_str() + 5);
  }
}

}  // namespace
}  // namespace ringdeal
