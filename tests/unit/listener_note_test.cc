#include "daemon/operating/listener_note.h"

#include <gtest/gtest.h>

namespace ringdeal {
namespace {

const std::vector<ListenerNote> kNotes = {
    {{UINT64_MAX, 4026531833}, "web", true, 0},
    {{7, 0}, "unix:/run/\xc3\xa4 \"b\".sock", false, 65534},
};

TEST(ListenerNoteTest, NothingIsLostOnTheWay) {
  const auto notes = ParseNotes("a-boot", FormatNotes("a-boot", kNotes));
  ASSERT_TRUE(notes) << notes.error();
  EXPECT_EQ(*notes, kNotes);
}

TEST(ListenerNoteTest, NoNotesAreNotes) {
  const auto notes = ParseNotes("a-boot", FormatNotes("a-boot", {}));
  ASSERT_TRUE(notes) << notes.error();
  EXPECT_TRUE(notes->empty());
}

TEST(ListenerNoteTest, AnotherBootHasOtherSocketsOfTheSameCookies) {
  const auto notes = ParseNotes("another", FormatNotes("a-boot", kNotes));
  ASSERT_TRUE(notes) << notes.error();
  EXPECT_TRUE(notes->empty());
}

TEST(ListenerNoteTest, BytesThatAreNoTextDoNoHarm) {
  const auto notes = ParseNotes("b", FormatNotes("b", {{{1, 1}, "unix:/\xff", false, 0}}));
  ASSERT_TRUE(notes) << notes.error();
  EXPECT_EQ(notes->front().identity.cookie, 1U);
}

TEST(ListenerNoteTest, WhatIsCutOrForeignIsRefusedAsAWhole) {
  const std::string good = FormatNotes("a-boot", kNotes);
  for (size_t length = 0; length + 2 < good.size(); ++length) {
    EXPECT_FALSE(ParseNotes("a-boot", good.substr(0, length))) << length;
  }
  for (const char* text :
       {"[]", "{}", "3", R"({"version":2,"boot":"b","listeners":[]})",
        R"({"version":1,"boot":"b","listeners":[{"cookie":1}]})",
        R"({"version":1,"boot":"b","listeners":[{"cookie":"x","network":1,"name":"n",)"
        R"("owned":true,"uid":0}]})"}) {
    EXPECT_FALSE(ParseNotes("b", text)) << text;
  }
}

}  // namespace
}  // namespace ringdeal
