#include "daemon/workers/request.h"

#include <string>

#include <gtest/gtest.h>

#include "protocol/control_messages.h"

namespace ringdeal {
namespace {

std::string CodeOf(const std::string& line) {
  const auto request = ParseRequest(line);
  return request ? "" : request.error().code;
}

TEST(Request, TakesEveryFieldThatTheShimWrites) {
  RegisterRequest sent;
  sent.listener = "web";
  sent.address = "127.0.0.1:80";
  sent.cpus = "0-3";
  sent.weight = 7;
  sent.observer = sent.forked = sent.one_at_a_time = sent.direct = sent.passes_listener =
      sent.passes_pidfd = true;
  char line[512];
  ASSERT_GT(FormatRegisterRequest(line, sizeof(line), sent), 0u);
  const auto request = ParseRequest(line);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->op, op::kRegister);
  EXPECT_EQ(request->listener, "web");
  EXPECT_EQ(request->address, "127.0.0.1:80");
  EXPECT_EQ(request->cpus, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(request->weight, 7u);
  EXPECT_TRUE(request->observer && request->forked && request->one_at_a_time && request->direct &&
              request->passes_listener && request->passes_pidfd);
}

TEST(Request, IsNotGuessedFromWhatIsNoObject) {
  for (const char* line :
       {"", "null", "[]", "\"op\"", "{\"op\":", "{} {}", "\xff\xfe", "{\"op\":1e999}"}) {
    EXPECT_EQ(CodeOf(line), code::kBadRequest) << line;
  }
}

TEST(Request, OfADeepNestingDoesNotOverflowTheStack) {
  EXPECT_EQ(CodeOf(std::string(60'000, '[')), code::kBadRequest);
}

TEST(Request, WithAWrongTypeOrRangeIsNotTaken) {
  for (const char* member : {"\"weight\":0", "\"weight\":1001", "\"weight\":-1", "\"weight\":1.5",
                             "\"weight\":\"1\"", "\"observer\":1", "\"listener\":5", "\"pid\":0",
                             "\"slot\":-1", "\"cpus\":[0]", "\"cpus\":\"3-1\"", "\"op\":7"}) {
    const std::string line = std::string("{\"op\":\"register\",") + member + "}";
    EXPECT_EQ(CodeOf(line), code::kBadRequest) << line;
  }
}

TEST(Request, NamesTheMemberThatIsWrong) {
  const auto request = ParseRequest(R"({"op":"register","weight":0})");
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().text, "\"weight\" must be a whole number from 1 to 1000");
}

TEST(Request, OfAnotherVersionIsRefused) {
  EXPECT_EQ(CodeOf(R"({"op":"register","version":2})"), code::kWrongVersion);
}

TEST(Request, MaySayMoreThanIsKnown) { EXPECT_EQ(CodeOf(R"({"op":"ready","mood":"good"})"), ""); }

TEST(Answer, EscapesWhatItRepeats) {
  const std::string line = ErrorLine({code::kUnknownOp, "a \"quote\"\nand \xff"});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_NE(line.find("\\\"quote\\\""), std::string::npos);
}

}  // namespace
}  // namespace ringdeal
