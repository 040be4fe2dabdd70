// Serves what can be seen of ringdeald over HTTP, by libevent's HTTP server. Belongs to the thread
// of its event loop (or to its maker, before the loop runs).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/observing/event_streams.h"
#include "daemon/observing/snapshot.h"
#include "daemon/operating/event_loop.h"
#include "protocol/result.h"

namespace ringdeal {

struct HttpLimits {
  size_t connections = 128;        // open at a time; more wait in the kernel's accept queue
  size_t header_bytes = 8 * 1024;  // of the request line and the headers
  size_t body_bytes = 4 * 1024;
  // From the accept on, whatever the client does: then it is closed.
  std::chrono::milliseconds connection_time = std::chrono::seconds(10);
  EventStreamLimits streams = {};  // of the connections; connection_time does not end them
};

// /, /events, /metrics, /status.json; /healthz: 200 while the loop runs; /readyz: 200 if every
// listener has a worker, else 503 and a line for each that has none. GET and HEAD only, one request
// a connection.
class HttpServer {
 public:
  // `address`: "127.0.0.1:9945", "[::1]:0"; port 0 takes a free one. `snapshot` is called on the
  // loop's thread for each answer that needs it; what this server knows of itself is filled in
  // here. The error is one line for the operator. The loop must outlive the server.
  static Result<std::unique_ptr<HttpServer>, std::string> Listen(EventLoop& loop,
                                                                 const std::string& address,
                                                                 std::function<Snapshot()> snapshot,
                                                                 HttpLimits limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // As bound, with the port that was taken.
  const std::string& address() const;
  uint16_t port() const;

  // Sets the http_ fields, for those who show a snapshot elsewhere.
  void Describe(Snapshot* snapshot) const;

 private:
  class Server;

  explicit HttpServer(std::unique_ptr<Server> server);

  std::unique_ptr<Server> server_;
};

}  // namespace ringdeal
