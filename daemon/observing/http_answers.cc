#include "daemon/observing/http_answers.h"

#include <algorithm>

#include "daemon/observing/metrics.h"
#include "daemon/observing/page/page_text.h"
#include "daemon/observing/status_document.h"
#include "daemon/observing/utf8.h"

namespace ringdeal {
namespace {

// A name may hold any bytes; in a text of lines it must not begin a new one.
std::string InOneLine(const std::string& name) {
  std::string clean = ToUtf8(name);
  for (char& c : clean)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  return clean;
}

bool HasWorker(const ListenerSnapshot& listener) {
  return std::any_of(listener.workers.begin(), listener.workers.end(),
                     [](const WorkerSnapshot& worker) { return worker.state == "worker"; });
}

HttpAnswer Readiness(const Snapshot& snapshot) {
  HttpAnswer answer;
  for (const auto& listener : snapshot.listeners) {
    if (HasWorker(listener)) continue;
    answer.body += "listener " + InOneLine(listener.name) + " has no worker\n";
  }
  if (answer.body.empty()) {
    answer.body = "ready\n";
  } else {
    answer.status = 503;
    answer.reason = "Service Unavailable";
  }
  return answer;
}

// Nothing but what the page itself consists of, and that by its hash.
HttpAnswer StatusPage() {
  return {
      200, "OK", "text/html; charset=utf-8", kPageText,
      std::string("default-src 'none'; connect-src 'self'; img-src data:; script-src 'sha256-") +
          kPageScriptHash + "'; style-src 'sha256-" + kPageStyleHash +
          "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"};
}

}  // namespace

HttpAnswer AnswerTo(std::string_view path, const std::function<Snapshot()>& snapshot) {
  if (path == "/metrics") return {200, "OK", kMetricsContentType, RenderMetrics(snapshot())};
  if (path == "/status.json")
    return {200, "OK", "application/json", RenderStatus(snapshot()) + "\n"};
  if (path == "/") return StatusPage();
  if (path == kEventsPath) return StreamHead();
  if (path == "/readyz") return Readiness(snapshot());
  HttpAnswer answer;
  if (path == "/healthz") {
    answer.body = "ok\n";
    return answer;
  }
  answer.status = 404;
  answer.reason = "Not Found";
  answer.body = "not found: there are /, /events, /metrics, /status.json, /healthz and /readyz\n";
  return answer;
}

HttpAnswer StreamHead() { return {200, "OK", "text/event-stream", {}}; }

HttpAnswer TooManyStreams() {
  return {503, "Service Unavailable", "text/plain; charset=utf-8", "too many open pages\n"};
}

HttpAnswer MethodNotAllowed() {
  HttpAnswer answer;
  answer.status = 405;
  answer.reason = "Method Not Allowed";
  answer.body = "only GET and HEAD\n";
  return answer;
}

}  // namespace ringdeal
