#include "daemon/observing/event_streams.h"

#include <algorithm>
#include <new>
#include <utility>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>

namespace ringdeal {
namespace {

// What a client says on its stream is not read; so much of it is held.
constexpr size_t kMostUnread = 1024;

std::string EventOf(const std::string& document) {
  return "event: status\ndata: " + document + "\n\n";
}

void Send(evhttp_request* request, const std::string& text) {
  const std::unique_ptr<evbuffer, decltype(&evbuffer_free)> chunk(evbuffer_new(), &evbuffer_free);
  if (chunk == nullptr || evbuffer_add(chunk.get(), text.data(), text.size()) != 0)
    throw std::bad_alloc();
  evhttp_send_reply_chunk(request, chunk.get());
}

bool HasUnsent(evhttp_connection* connection) {
  bufferevent* transport = evhttp_connection_get_bufferevent(connection);
  return evbuffer_get_length(bufferevent_get_output(transport)) > 0;
}

}  // namespace

EventStreams::EventStreams(EventLoop* loop, const EventStreamLimits& limits,
                           std::function<std::string()> document)
    : limits_(limits), document_(std::move(document)), timer_(loop->MakeTimer([this] { Tell(); })) {
  streams_.reserve(limits_.streams);
}

bool EventStreams::MayBegin() {
  if (streams_.size() < limits_.streams) return true;
  ++times_full_;
  return false;
}

void EventStreams::Begin(evhttp_request* request) {
  const std::string event = EventOf(document_());
  evhttp_connection* connection = evhttp_request_get_connection(request);
  bufferevent* transport = evhttp_connection_get_bufferevent(connection);
  bufferevent_set_timeouts(transport, nullptr, nullptr);
  bufferevent_setwatermark(transport, EV_READ, 0, kMostUnread);
  streams_.push_back({request, connection, std::nullopt});
  evhttp_send_reply_start(request, 200, "OK");
  Send(request, event);
  if (streams_.size() == 1) timer_->Arm(limits_.interval);
}

void EventStreams::Forget(const evhttp_connection* connection) {
  std::erase_if(streams_, [&](const Stream& one) {
    if (one.connection != connection) return false;
    // Its client has closed: then libevent has let go of the request, which is ours to free.
    if (evhttp_request_get_connection(one.request) == nullptr) evhttp_request_free(one.request);
    return true;
  });
}

bool EventStreams::KeepsUp(Stream* stream) const {
  if (!HasUnsent(stream->connection)) {
    stream->behind_since.reset();
    return true;
  }
  const Clock::time_point now = Clock::now();
  if (!stream->behind_since) stream->behind_since = now;
  return now - *stream->behind_since < limits_.patience;
}

void EventStreams::Tell() {
  std::vector<evhttp_connection*> slow;
  for (Stream& stream : streams_) {
    if (!KeepsUp(&stream)) slow.push_back(stream.connection);
  }
  for (evhttp_connection* connection : slow) {
    ++dropped_;
    evhttp_connection_free(connection);  // which is told to Forget
  }
  if (streams_.empty()) return;
  const std::string event = EventOf(document_());
  for (const Stream& stream : streams_) {
    if (!stream.behind_since) Send(stream.request, event);
  }
  timer_->Arm(limits_.interval);
}

void EventStreams::Describe(Snapshot* snapshot) const {
  snapshot->http_streams = streams_.size();
  snapshot->http_streams_full = times_full_;
  snapshot->http_streams_dropped = dropped_;
}

}  // namespace ringdeal
