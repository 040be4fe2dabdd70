#include "daemon/dealing/cpu_list.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ringdeal {
namespace {

TEST(CpuList, ReadsWhatTheKernelWrites) {
  const std::vector<std::pair<const char*, std::vector<int>>> cases{
      {"0", {0}},
      {"0-3,8", {0, 1, 2, 3, 8}},
      {"8191", {8191}},
      {"4-5,0-1,1,5-6,0-0", {0, 1, 4, 5, 6}},
  };
  for (const auto& [text, expected] : cases) {
    const auto cpus = ParseCpuList(text);
    ASSERT_TRUE(cpus.ok()) << text;
    EXPECT_EQ(*cpus, expected) << text;
  }
}

TEST(CpuList, DoesNotGuessWhatIsMeant) {
  for (const char* text : {"", ",", "0,", ",0", "a", "0-", "-1", "0--1", "3-1", "0-3-5", "0 1",
                           " 0", "8192", "0-99999999999", "0x1", "+1", "1.5"}) {
    const auto cpus = ParseCpuList(text);
    ASSERT_FALSE(cpus.ok()) << text;
    EXPECT_NE(cpus.error().find("\"" + std::string(text) + "\""), std::string::npos);
    EXPECT_EQ(cpus.error().find('\n'), std::string::npos);
  }
}

TEST(CpuList, IsWrittenAsItIsRead) {
  for (const char* text : {"0", "0-3,8", "2,4,6-7", "8191"}) {
    EXPECT_EQ(FormatCpuList(*ParseCpuList(text)), text);
  }
  EXPECT_EQ(FormatCpuList({}), "");
}

}  // namespace
}  // namespace ringdeal
