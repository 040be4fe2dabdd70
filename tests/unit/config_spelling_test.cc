#include "daemon/operating/config_spelling.h"

#include <gtest/gtest.h>

#include "daemon/operating/config_values.h"

namespace ringdeal {
namespace {

TEST(ConfigSpelling, CountsEachSlipOfTheFingerOnce) {
  EXPECT_EQ(EditDistance("backlog", "backlog"), 0u);
  EXPECT_EQ(EditDistance("backlgo", "backlog"), 1u);   // swapped
  EXPECT_EQ(EditDistance("baklog", "backlog"), 1u);    // dropped
  EXPECT_EQ(EditDistance("backklog", "backlog"), 1u);  // added
  EXPECT_EQ(EditDistance("backlag", "backlog"), 1u);   // changed
  EXPECT_EQ(EditDistance("", "bind"), 4u);
  EXPECT_EQ(EditDistance("bind", ""), 4u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
}

TEST(ConfigSpelling, SuggestsNoWordThatIsFarOff) {
  constexpr std::string_view kKnown[] = {"bind", "backlog", "policy"};
  EXPECT_EQ(NearestWord("bnid", kKnown), "bind");
  EXPECT_EQ(NearestWord("polcy", kKnown), "policy");
  EXPECT_EQ(NearestWord("zebra", kKnown), "");
  EXPECT_EQ(NearestWord("", kKnown), "");
  EXPECT_EQ(NearestWord(std::string(100000, 'b'), kKnown), "");
}

TEST(ConfigSpelling, QuotedWordsStayOnOneShortLine) {
  EXPECT_EQ(Quote("a\nb\x1b[31m\xff"), "'a?b?[31m?'");
  EXPECT_LT(Quote(std::string(1000, 'x')).size(), 100u);
}

TEST(ConfigDuration, IsTheSameAfterWritingAndReading) {
  for (const char* text : {"0s", "1ns", "999us", "2ms", "1500ms", "30s", "90s", "5min", "24h"}) {
    const auto duration = ParseDuration(text);
    ASSERT_TRUE(duration.ok()) << text;
    EXPECT_EQ(FormatDuration(*duration), text);
  }
}

}  // namespace
}  // namespace ringdeal
