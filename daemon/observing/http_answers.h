// What the HTTP server answers to which path. Knows nothing of connections. Any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "daemon/observing/snapshot.h"

namespace ringdeal {

struct HttpAnswer {
  int status = 200;
  const char* reason = "OK";
  const char* content_type = "text/plain; charset=utf-8";
  std::string body;
  std::string security_policy = "default-src 'none'; frame-ancestors 'none'";
};

// What answers it does not end: its head is StreamHead, or there are too many already.
inline constexpr std::string_view kEventsPath = "/events";
HttpAnswer StreamHead();
HttpAnswer TooManyStreams();

// To GET and HEAD. `path` is without its query; `snapshot` is called only if the answer needs it.
HttpAnswer AnswerTo(std::string_view path, const std::function<Snapshot()>& snapshot);

// To every other method. Goes with the header "Allow: GET, HEAD".
HttpAnswer MethodNotAllowed();

}  // namespace ringdeal
