#include <gtest/gtest.h>

#include "daemon/observing/utf8.h"

namespace ringdeal {
namespace {

TEST(Utf8, LeavesWellFormedTextAlone) {
  const std::string text =
      "web \x7f\xc2\x80 \xc3\xa9 \xe0\xa0\x80 \xef\xbf\xbf \xf0\x90\x80\x80 "
      "\xf4\x8f\xbf\xbf";
  EXPECT_EQ(ToUtf8(text), text);
  EXPECT_EQ(ToUtf8(""), "");
}

TEST(Utf8, LetsNoMalformedByteThrough) {
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(ToUtf8("\x80"), r);
  EXPECT_EQ(ToUtf8("a\xff"
                   "b"),
            "a" + r + "b");
  EXPECT_EQ(ToUtf8("\xc3"), r);                          // cut off
  EXPECT_EQ(ToUtf8("\xe2\x82"), r + r);                  // cut off
  EXPECT_EQ(ToUtf8("\xc0\xaf"), r + r);                  // overlong
  EXPECT_EQ(ToUtf8("\xe0\x9f\xbf"), r + r + r);          // overlong
  EXPECT_EQ(ToUtf8("\xf0\x8f\xbf\xbf"), r + r + r + r);  // overlong
  EXPECT_EQ(ToUtf8("\xed\xa0\x80"), r + r + r);          // surrogate
  EXPECT_EQ(ToUtf8("\xf4\x90\x80\x80"), r + r + r + r);  // beyond U+10FFFF
  EXPECT_EQ(ToUtf8("\xe2\x28\xa1"), r + "(" + r);        // lead without its tail
}

}  // namespace
}  // namespace ringdeal
