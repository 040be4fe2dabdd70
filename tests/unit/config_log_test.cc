// One line for each event, whatever it holds, and no flood of them.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/operating/log.h"
#include "daemon/operating/log_line.h"
#include "daemon/operating/log_repeats.h"

namespace ringdeal {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::chrono::system_clock::time_point kTime{std::chrono::seconds(1'700'000'000)};

std::string Logfmt(std::string_view text) {
  const LogField fields[] = {{"k", text}};
  const std::string line = RenderLine({}, kTime, LogLevel::kInfo, "e", fields);
  return line.substr(line.find(" k=") + 3);
}

TEST(LogLine, QuotesWhatLogfmtWouldSplit) {
  EXPECT_EQ(Logfmt("plain-text/1.2"), "plain-text/1.2");
  EXPECT_EQ(Logfmt(""), "\"\"");
  EXPECT_EQ(Logfmt("two words"), "\"two words\"");
  EXPECT_EQ(Logfmt("a=b"), "\"a=b\"");
  EXPECT_EQ(Logfmt("say \"x\" \\"), "\"say \\\"x\\\" \\\\\"");
}

TEST(LogLine, StaysOneLineWhateverItHolds) {
  EXPECT_EQ(Logfmt("a\nlevel=error"), "\"a\\nlevel=error\"");
  EXPECT_EQ(Logfmt("\x1b[31m\r\x7f"), "\"\\u001b[31m\\u000d\\u007f\"");
  EXPECT_EQ(Logfmt("\xc3\xa4 \xff"), "\"\xc3\xa4 \xef\xbf\xbd\"");
}

TEST(LogLine, KeepsItsParts) {
  const LogField fields[] = {
      {"listener", "web"}, {"count", 3u}, {"change", -1}, {"ratio", 0.5}, {"shared", true}};
  EXPECT_EQ(RenderLine({}, kTime + microseconds(7), LogLevel::kWarn, "accept_paused", fields),
            "ts=2023-11-14T22:13:20.000007Z level=warn event=accept_paused listener=web count=3 "
            "change=-1 ratio=0.5 shared=true");
}

TEST(LogLine, IsJsonThatAParserTakesForAnyText) {
  const std::string wild = "q\" b\\ n\n t\t e\x1b z" + std::string(1, '\0') + "\xff\xc3\xa4";
  const LogField fields[] = {{"text", wild}, {"count", 3}, {"shared", false}, {"ratio", 1.0 / 0.0}};
  const std::string line = RenderLine({.json = true}, kTime, LogLevel::kError, "e", fields);
  const auto parsed = nlohmann::json::parse(line);
  EXPECT_EQ(parsed["level"], "error");
  EXPECT_EQ(parsed["event"], "e");
  EXPECT_EQ(parsed["text"],
            "q\" b\\ n\n t\t e\x1b z" + std::string(1, '\0') + "\xef\xbf\xbd\xc3\xa4");
  EXPECT_EQ(parsed["count"], 3);
  EXPECT_EQ(parsed["shared"], false);
  EXPECT_TRUE(parsed["ratio"].is_string());
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(LogLine, GivesTheJournalItsPriority) {
  const auto line = [](LogLevel level) {
    return RenderLine({.priority = true}, kTime, level, "e", {}).substr(0, 3);
  };
  EXPECT_EQ(line(LogLevel::kDebug), "<7>");
  EXPECT_EQ(line(LogLevel::kInfo), "<6>");
  EXPECT_EQ(line(LogLevel::kWarn), "<4>");
  EXPECT_EQ(line(LogLevel::kError), "<3>");
}

TEST(LogRepeats, LeavesOutAFloodAndSaysHowMuch) {
  LogRepeats repeats;
  LogRepeats::Time now{};
  for (uint64_t i = 0; i < LogRepeats::kMaxPerPeriod; ++i) {
    EXPECT_EQ(repeats.Admit("accept_failed", "web", now), 0u);
    now += milliseconds(1);
  }
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(repeats.Admit("accept_failed", "web", now));
  now = LogRepeats::Time{} + LogRepeats::kPeriod;
  EXPECT_EQ(repeats.Admit("accept_failed", "web", now), 7u);
  EXPECT_EQ(repeats.Admit("accept_failed", "web", now), 0u);
}

TEST(LogRepeats, DoesNotSilenceAnotherEventOrListener) {
  LogRepeats repeats;
  const LogRepeats::Time now{};
  while (repeats.Admit("accept_failed", "web", now)) {
  }
  EXPECT_EQ(repeats.Admit("accept_failed", "api", now), 0u);
  EXPECT_EQ(repeats.Admit("worker_died", "web", now), 0u);
}

TEST(LogRepeats, NeverSilencesWhatIsSlow) {
  LogRepeats repeats;
  LogRepeats::Time now{};
  for (uint64_t i = 0; i < 10 * LogRepeats::kMaxPerPeriod; ++i) {
    EXPECT_EQ(repeats.Admit("slow", "web", now), 0u);
    now += seconds(1);
  }
}

TEST(LogRepeats, ForgetsRatherThanGrow) {
  LogRepeats repeats;
  const LogRepeats::Time now{};
  while (repeats.Admit("flood", "", now)) {
  }
  for (size_t i = 0; i < LogRepeats::kMaxEvents; ++i) {
    EXPECT_EQ(repeats.Admit("event", std::to_string(i), now), 0u);
  }
  EXPECT_EQ(repeats.Admit("flood", "", now), 0u);
}

// The real thing, with standard error going to a file.
class LogOutput : public testing::Test {
 protected:
  void TearDown() override {
    unsetenv("JOURNAL_STREAM");
    StartLog({});
  }

  template <typename Act>
  static std::vector<std::string> LinesOf(Act act) {
    testing::internal::CaptureStderr();
    act();
    std::istringstream text(testing::internal::GetCapturedStderr());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(LogOutput, HasNothingBelowItsLevelWhichChangesWhileItRuns) {
  const auto lines = LinesOf([] {
    StartLog({.level = "warn", .format = "logfmt"});
    Log(LogLevel::kInfo, "hidden");
    Log(LogLevel::kWarn, "shown");
    SetLogLevel("debug");
    SetLogLevel("no such level");
    Log(LogLevel::kDebug, "shown_too");
  });
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("level=warn event=shown"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("level=debug event=shown_too"), std::string::npos) << lines[1];
}

TEST_F(LogOutput, DoesNotReadBracesInATextAsAFormat) {
  const auto lines = LinesOf([] {
    StartLog({});
    Log(LogLevel::kInfo, "braces", {{"text", "{}%v{0:d}"}});
  });
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("text={}%v{0:d}"), std::string::npos) << lines[0];
}

TEST_F(LogOutput, HasPrioritiesOnlyIfStandardErrorIsTheJournal) {
  const auto journal = LinesOf([] {
    struct stat status = {};
    ASSERT_EQ(fstat(STDERR_FILENO, &status), 0);
    const std::string stream = std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
    setenv("JOURNAL_STREAM", stream.c_str(), 1);
    StartLog({.level = "info", .format = "json"});
    Log(LogLevel::kInfo, "in_journal");
  });
  ASSERT_EQ(journal.size(), 1u);
  EXPECT_EQ(journal[0].rfind("<6>{\"ts\":", 0), 0u) << journal[0];
  const auto redirected = LinesOf([] {
    setenv("JOURNAL_STREAM", "1:1", 1);
    StartLog({.level = "info", .format = "json"});
    Log(LogLevel::kInfo, "elsewhere");
  });
  ASSERT_EQ(redirected.size(), 1u);
  EXPECT_EQ(redirected[0].rfind("{\"ts\":", 0), 0u) << redirected[0];
}

TEST_F(LogOutput, DoesNotMixTheLinesOfThreads) {
  constexpr int kThreads = 4;
  const auto lines = LinesOf([] {
    StartLog({.level = "info", .format = "json"});
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([i] {
        const std::string listener = "mixed" + std::to_string(i);
        for (int j = 0; j < 40; ++j) Log(LogLevel::kInfo, "mixed", {{"listener", listener}});
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(lines.size(), 40u * kThreads);
  for (const std::string& line : lines) EXPECT_TRUE(nlohmann::json::accept(line)) << line;
}

TEST_F(LogOutput, LeavesOutOneListenersFloodOnly) {
  const auto lines = LinesOf([] {
    StartLog({});
    for (int i = 0; i < 1000; ++i) Log(LogLevel::kWarn, "flood_test", {{"listener", "web"}});
    Log(LogLevel::kWarn, "flood_test", {{"listener", "api"}});
  });
  // One more if the test ran across the end of a period.
  EXPECT_LE(lines.size(), 2 * LogRepeats::kMaxPerPeriod + 1);
  ASSERT_GE(lines.size(), LogRepeats::kMaxPerPeriod + 1);
  EXPECT_NE(lines.back().find("listener=api"), std::string::npos);
}

}  // namespace
}  // namespace ringdeal
