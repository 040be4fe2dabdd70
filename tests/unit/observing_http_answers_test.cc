#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/observing/http_answers.h"
#include "daemon/observing/metrics.h"
#include "daemon/observing/status_document.h"
#include "tests/unit/observing_sample.h"

namespace ringdeal {
namespace {

HttpAnswer Ask(const char* path, const Snapshot& snapshot) {
  return AnswerTo(path, [&] { return snapshot; });
}

TEST(HttpAnswers, RenderTheSnapshotForEachOfItsReaders) {
  const Snapshot snapshot = SampleSnapshot();
  const HttpAnswer metrics = Ask("/metrics", snapshot);
  EXPECT_EQ(metrics.status, 200);
  EXPECT_STREQ(metrics.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(metrics.body, RenderMetrics(snapshot));
  const HttpAnswer status = Ask("/status.json", snapshot);
  EXPECT_EQ(status.status, 200);
  EXPECT_STREQ(status.content_type, "application/json");
  EXPECT_EQ(status.body, RenderStatus(snapshot) + "\n");
}

TEST(HttpAnswers, TakeNoSnapshotToSayThatTheLoopRuns) {
  const HttpAnswer answer = AnswerTo("/healthz", []() -> Snapshot {
    ADD_FAILURE();
    return {};
  });
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "ok\n");
}

TEST(HttpAnswers, AreReadyOnlyIfEachListenerHasAWorker) {
  Snapshot snapshot;
  EXPECT_EQ(Ask("/readyz", snapshot).status, 200);  // none to be ready for
  for (const char* name : {"web", "api", "admin"})
    snapshot.listeners.push_back(SampleListener(name));
  for (auto& listener : snapshot.listeners) listener.workers = {SampleWorker(0), SampleWorker(1)};
  EXPECT_EQ(Ask("/readyz", snapshot).body, "ready\n");
  snapshot.listeners[2].workers.clear();
  for (const char* other : {"starting", "observer", "paused", "draining", "left"}) {
    snapshot.listeners[0].workers[0].state = other;  // it has another
    snapshot.listeners[1].workers[0].state = other;
    snapshot.listeners[1].workers[1].state = other;
    const HttpAnswer answer = Ask("/readyz", snapshot);
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.body, "listener api has no worker\nlistener admin has no worker\n");
  }
}

TEST(HttpAnswers, KeepAHostileNameInItsLine) {
  Snapshot snapshot;
  snapshot.listeners.push_back(SampleListener(kHostileName));
  const HttpAnswer answer = Ask("/readyz", snapshot);
  EXPECT_EQ(answer.body,
            "listener a\"b\\c?ringdeal_fake 1</script>\xef\xbf\xbd\xc3\xa9 has no worker\n");
  EXPECT_STREQ(answer.content_type, "text/plain; charset=utf-8");
}

TEST(HttpAnswers, KnowNoOtherPath) {
  for (const char* path :
       {"", "/event", "/page.js", "/metrics/", "/Metrics", "//metrics", "/status", "/../metrics"})
    EXPECT_EQ(Ask(path, SampleSnapshot()).status, 404) << path;
}

}  // namespace
}  // namespace ringdeal
