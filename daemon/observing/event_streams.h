// Open pages, each told the status document again and again as server-sent events. A part of the
// HTTP server; on the thread of its event loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/observing/snapshot.h"
#include "daemon/operating/event_loop.h"

struct evhttp_connection;
struct evhttp_request;

namespace ringdeal {

struct EventStreamLimits {
  size_t streams = 64;
  std::chrono::milliseconds interval = std::chrono::seconds(1);
  // A reader that has not read one event for so long is dropped; it misses those in between.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
};

class EventStreams {
 public:
  // `document`: the status document as of now. Called once for all readers of an event.
  EventStreams(EventLoop* loop, const EventStreamLimits& limits,
               std::function<std::string()> document);

  // True if there is room for another one; else it is counted.
  bool MayBegin();
  // REQUIRES: MayBegin. Begins the answer to `request`, which ends when its client does.
  void Begin(evhttp_request* request);
  // The connection is closed, whether it was a stream or not.
  void Forget(const evhttp_connection* connection);

  void Describe(Snapshot* snapshot) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Stream {
    evhttp_request* request;
    evhttp_connection* connection;
    std::optional<Clock::time_point> behind_since;  // the last event is not yet sent whole
  };

  void Tell();
  // False: its reader is to be dropped.
  bool KeepsUp(Stream* stream) const;

  const EventStreamLimits limits_;
  const std::function<std::string()> document_;
  const std::unique_ptr<EventLoop::Watch> timer_;
  std::vector<Stream> streams_;
  uint64_t times_full_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace ringdeal
