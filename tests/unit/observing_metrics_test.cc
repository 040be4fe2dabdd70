#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/observing/metrics.h"
#include "tests/unit/observing_sample.h"

namespace ringdeal {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> Rendered(const Snapshot& snapshot) {
  return LinesOf(RenderMetrics(snapshot));
}

TEST(Metrics, AreWhatTheManualSays) {
  std::ifstream manual(RINGDEAL_SOURCE_DIR "/docs/metrics.md");
  ASSERT_TRUE(manual);
  std::vector<std::string> documented;
  for (std::string line; std::getline(manual, line);)
    if (line.rfind("| `ringdeal_", 0) == 0) documented.push_back(line);
  std::vector<std::string> expected;
  for (const auto& metric : DescribeMetrics()) {
    expected.push_back("| `" + metric.name + "` | " + metric.type + " | " + metric.labels + " | " +
                       metric.help + " |");
  }
  EXPECT_EQ(documented, expected);
}

TEST(Metrics, LeaveNoFieldOut) {
  const auto lines = Rendered(SampleSnapshot());
  for (const char* line : {
           "ringdeal_build_info{version=\"9.8.7\"} 1",
           "ringdeal_uptime_seconds 64.5",
           "ringdeal_control_connections 301",
           "ringdeal_control_refusals_total{code=\"not-allowed\"} 302",
           "ringdeal_config_reloads_total{outcome=\"applied\"} 310",
           "ringdeal_config_reloads_total{outcome=\"failed\"} 311",
           "ringdeal_config_last_reload_successful 0",
           "ringdeal_recall_threads_abandoned_total 303",
           "ringdeal_acceptor_unblocked_total 304",
           "ringdeal_http_connections 305",
           "ringdeal_http_connections_full_total 306",
           "ringdeal_http_timeouts_total 307",
           "ringdeal_http_streams 312",
           "ringdeal_http_streams_full_total 313",
           "ringdeal_http_streams_dropped_total 314",
           "ringdeal_listener_info{listener=\"web\",address=\"127.0.0.1:8080\","
           "policy=\"least-loaded\",origin=\"owned\"} 1",
           "ringdeal_listener_mode{listener=\"web\",mode=\"handoff\"} 0",
           "ringdeal_listener_mode{listener=\"web\",mode=\"holding\"} 1",
           "ringdeal_accepted_total{listener=\"web\"} 201",
           "ringdeal_accept_errors_total{listener=\"web\",reason=\"EMFILE\"} 202",
           "ringdeal_accept_errors_total{listener=\"web\",reason=\"ECONNABORTED\"} 203",
           "ringdeal_handoffs_total{listener=\"web\",outcome=\"delivered\"} 204",
           "ringdeal_handoffs_total{listener=\"web\",outcome=\"full\"} 205",
           "ringdeal_redealt_total{listener=\"web\"} 206",
           "ringdeal_recalls_total{listener=\"web\",reason=\"overdue\"} 223",
           "ringdeal_long_passes_total{listener=\"web\"} 224",
           "ringdeal_longest_pass_seconds{listener=\"web\"} 0.25",
           "ringdeal_holds_total{listener=\"web\"} 207",
           "ringdeal_held_seconds_total{listener=\"web\"} 1.5",
           "ringdeal_kept_connections{listener=\"web\"} 208",
           "ringdeal_workers_joined_total{listener=\"web\"} 209",
           "ringdeal_workers_left_total{listener=\"web\"} 210",
           "ringdeal_counters_clamped_total{listener=\"web\"} 211",
           "ringdeal_workers_stuck_total{listener=\"web\"} 219",
           "ringdeal_listener_repairs_total{listener=\"web\"} 212",
           "ringdeal_deals_by_ring_total{listener=\"web\",ring=\"3\"} 216",
           "ringdeal_guard_turned_away_total{listener=\"web\"} 217",
           "ringdeal_decks_dealt_total{listener=\"web\"} 218",
           "ringdeal_receive_share{listener=\"web\",cpu=\"6\"} 0.75",
           "ringdeal_workers_placed{listener=\"web\",source=\"learned\"} 2",
           "ringdeal_workers_placed{listener=\"web\",source=\"set\"} 0",
           "ringdeal_workers{listener=\"web\",state=\"worker\"} 2",
           "ringdeal_workers{listener=\"web\",state=\"paused\"} 0",
           "ringdeal_worker_state{listener=\"web\",slot=\"4\"} 2",
           "ringdeal_worker_one_at_a_time{listener=\"web\",slot=\"4\"} 1",
           "ringdeal_worker_weight{listener=\"web\",slot=\"4\"} 103",
           "ringdeal_worker_active{listener=\"web\",slot=\"0\"} 104",
           "ringdeal_worker_active{listener=\"web\",slot=\"4\"} 104",
           "ringdeal_worker_pending{listener=\"web\",slot=\"4\"} 105",
           "ringdeal_worker_queued{listener=\"web\",slot=\"4\"} 106",
           "ringdeal_worker_load{listener=\"web\",slot=\"4\"} 107",
           "ringdeal_worker_handed_total{listener=\"web\",slot=\"4\"} 108",
           "ringdeal_worker_recalled_total{listener=\"web\",slot=\"4\"} 109",
           "ringdeal_worker_taken_total{listener=\"web\",slot=\"4\"} 110",
           "ringdeal_worker_closed_total{listener=\"web\",slot=\"4\"} 111",
           "ringdeal_worker_direct_total{listener=\"web\",slot=\"4\"} 112",
           "ringdeal_worker_pass_seconds{listener=\"web\",slot=\"4\"} 0.25",
       }) {
    EXPECT_THAT(lines, Contains(line));
  }
}

TEST(Metrics, CompareLoadsByWeightAmongThoseThatAreDealtTo) {
  Snapshot snapshot = SampleSnapshot();
  auto& workers = snapshot.listeners[0].workers;
  workers.push_back(SampleWorker(5));
  const auto set = [&](size_t index, uint32_t weight, double part, uint64_t load) {
    workers[index].weight = weight;
    workers[index].weight_part = part;
    workers[index].load = load;
  };
  const auto shown = [&](const char* value) {
    EXPECT_THAT(Rendered(snapshot),
                Contains(std::string("ringdeal_imbalance{listener=\"web\"} ") + value));
  };
  set(0, 2, 1, 20);    // 10
  set(1, 1, 0.5, 6);   // 12
  set(2, 1, 1, 1000);  // is not dealt to
  workers[2].state = "paused";
  shown("2");
  set(0, 1, 1, 12);
  shown("0");
  workers.clear();
  shown("0");
}

TEST(Metrics, RenderEachDescribedOnceWithItsTypeAndHelp) {
  const std::string text = RenderMetrics(SampleSnapshot());
  for (const auto& metric : DescribeMetrics()) {
    const std::string head = "# HELP " + metric.name + " " + metric.help + "\n# TYPE " +
                             metric.name + " " + metric.type + "\n";
    const size_t at = text.find(head);
    ASSERT_NE(at, std::string::npos) << metric.name;
    EXPECT_EQ(text.find(head, at + 1), std::string::npos) << metric.name;
  }
}

TEST(Metrics, KeepToTheConventionsOfNames) {
  std::set<std::string> names;
  for (const auto& metric : DescribeMetrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_EQ(metric.name.rfind("ringdeal_", 0), 0u) << metric.name;
    const bool total =
        metric.name.size() > 6 && metric.name.rfind("_total") == metric.name.size() - 6;
    EXPECT_EQ(total, metric.type == "counter") << metric.name;
    EXPECT_EQ(metric.help.find_first_of("\n\\|"), std::string::npos) << metric.name;
  }
}

TEST(Metrics, DoNotGrowWithProcessesOrUsers) {
  const std::string text = RenderMetrics(SampleSnapshot());
  EXPECT_THAT(text, Not(HasSubstr("7000")));
  for (const auto& metric : DescribeMetrics()) {
    if (metric.name.rfind("ringdeal_worker_", 0) != 0) continue;
    EXPECT_EQ(metric.labels, "listener, slot") << metric.name;
  }
}

TEST(Metrics, NumberEachStateAsTheManualDoes) {
  const char* const states[] = {"starting", "observer", "worker",  "paused",
                                "left",     "draining", "suspect", "unknown"};
  for (int number = 0; number < 8; ++number) {
    Snapshot snapshot = SampleSnapshot();
    snapshot.listeners[0].workers[0].state = states[number];
    EXPECT_THAT(Rendered(snapshot), Contains("ringdeal_worker_state{listener=\"web\",slot=\"0\"} " +
                                             std::to_string(number)));
  }
}

TEST(Metrics, SayNothingOfWhatIsNotThere) {
  const std::string text = RenderMetrics(Snapshot());
  EXPECT_THAT(text, HasSubstr("ringdeal_uptime_seconds 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("ringdeal_accepted_total")));
}

TEST(Metrics, LetNoNameBreakItsLabel) {
  Snapshot snapshot;
  snapshot.listeners.push_back(SampleListener(kHostileName));
  const auto lines = Rendered(snapshot);
  EXPECT_THAT(lines, Contains("ringdeal_accepted_total{listener=\"a\\\"b\\\\c\\nringdeal_fake "
                              "1</script>\xef\xbf\xbd\xc3\xa9\"} 201"));
  for (const auto& line : lines) {
    EXPECT_TRUE(line.rfind("# ", 0) == 0 || line.rfind("ringdeal_", 0) == 0) << line;
    EXPECT_NE(line.rfind("ringdeal_fake", 0), 0u) << line;
  }
}

TEST(Metrics, PassTheCheckOfPrometheusItself) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) GTEST_SKIP() << "no promtool";
  Snapshot snapshot = SampleSnapshot();
  snapshot.listeners.push_back(SampleListener(kHostileName));
  FILE* promtool = popen("promtool check metrics", "w");
  ASSERT_NE(promtool, nullptr);
  const std::string text = RenderMetrics(snapshot);
  fwrite(text.data(), 1, text.size(), promtool);
  EXPECT_EQ(pclose(promtool), 0);
}

}  // namespace
}  // namespace ringdeal
