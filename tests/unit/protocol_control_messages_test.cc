#include <cstdlib>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "protocol/control_messages.h"

namespace ringdeal {
namespace {

std::string Bind(const char* address) {
  char line[256];
  return std::string(line, FormatBindRequest(line, sizeof(line), address));
}

std::string Register(const RegisterRequest& request) {
  char line[512];
  return std::string(line, FormatRegisterRequest(line, sizeof(line), request));
}

TEST(BindRequest, IsOneLine) {
  EXPECT_EQ(Bind("127.0.0.1:8080"),
            "{\"op\":\"bind\",\"version\":1,\"address\":\"127.0.0.1:8080\"}\n");
}

TEST(RegisterRequest, WhatIsNotSetIsNotWritten) {
  EXPECT_EQ(Register({}), "{\"op\":\"register\",\"version\":1,\"weight\":1}\n");
}

TEST(RegisterRequest, EveryFieldIsWritten) {
  RegisterRequest request;
  request.listener = "web";
  request.address = "[::1]:80";
  request.cpus = "0-3,8";
  request.weight = 4294967295u;
  request.observer = true;
  request.forked = true;
  request.one_at_a_time = true;
  request.direct = true;
  request.passes_listener = true;
  request.passes_pidfd = true;
  EXPECT_EQ(
      Register(request),
      "{\"op\":\"register\",\"version\":1,\"weight\":4294967295,\"listener\":\"web\","
      "\"address\":\"[::1]:80\",\"cpus\":\"0-3,8\",\"observer\":true,\"forked\":true,"
      "\"one_at_a_time\":true,\"direct\":true,\"passes_listener\":true,\"passes_pidfd\":true}\n");
}

TEST(Requests, ATextThatWouldNeedEscapingIsRefused) {
  for (const char* bad : {"a\"b", "a\\b", "a\nb", "a\tb", "\x01", "\x1f", "\"", "\\"}) {
    EXPECT_EQ(Bind(bad), "") << bad;
    RegisterRequest request;
    request.listener = bad;
    EXPECT_EQ(Register(request), "") << bad;
    request = {};
    request.address = bad;
    EXPECT_EQ(Register(request), "") << bad;
    request = {};
    request.cpus = bad;
    EXPECT_EQ(Register(request), "") << bad;
  }
}

TEST(Requests, TextsOfOtherAlphabetsPass) {
  RegisterRequest request;
  request.listener =
      "w\xc3\xa9"
      "b";
  EXPECT_NE(Register(request), "");
}

// A line that does not fit must not be sent in part: for every size, all or nothing.
TEST(Requests, ALineThatDoesNotFitIsNotWrittenInPart) {
  RegisterRequest request;
  request.listener = "web";
  request.cpus = "0-3";
  request.passes_listener = true;
  const std::string whole = Register(request);
  for (size_t size = 1; size < whole.size() + 8; ++size) {
    std::string out(size + 1, '#');
    const size_t length = FormatRegisterRequest(out.data(), size, request);
    EXPECT_EQ(length, size > whole.size() ? whole.size() : 0) << size;
    EXPECT_EQ(out[size], '#') << "wrote past its end at size " << size;
    EXPECT_EQ(out.substr(0, length), whole.substr(0, length));
  }
}

TEST(ControlAddress, APathAndTheAbstractNameOfTheSameText) {
  sockaddr_un address;
  socklen_t length = 0;
  ASSERT_TRUE(MakeControlAddress("/run/a.sock", false, &address, &length));
  EXPECT_STREQ(address.sun_path, "/run/a.sock");
  EXPECT_EQ(length, offsetof(sockaddr_un, sun_path) + 12);
  ASSERT_TRUE(MakeControlAddress("/run/a.sock", true, &address, &length));
  EXPECT_EQ(address.sun_path[0], '\0');
  EXPECT_EQ(std::string(address.sun_path + 1, 11), "/run/a.sock");
  EXPECT_EQ(length, offsetof(sockaddr_un, sun_path) + 12);
}

TEST(ControlAddress, APathThatDoesNotFitIsRefused) {
  sockaddr_un address;
  socklen_t length = 0;
  EXPECT_FALSE(MakeControlAddress("", false, &address, &length));
  EXPECT_TRUE(MakeControlAddress(std::string(107, 'a').c_str(), false, &address, &length));
  EXPECT_TRUE(MakeControlAddress(std::string(107, 'a').c_str(), true, &address, &length));
  EXPECT_FALSE(MakeControlAddress(std::string(108, 'a').c_str(), false, &address, &length));
  EXPECT_FALSE(MakeControlAddress(std::string(108, 'a').c_str(), true, &address, &length));
}

TEST(DefaultControlPath, DoesNotFitOrIsWholly) {
  char path[108];
  ASSERT_TRUE(DefaultControlPath(path, sizeof(path)) || std::getenv("XDG_RUNTIME_DIR") == nullptr);
  char small[10];
  EXPECT_FALSE(DefaultControlPath(small, sizeof(small)));
}

}  // namespace
}  // namespace ringdeal
