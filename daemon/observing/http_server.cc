#include "daemon/observing/http_server.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

#include "daemon/observing/event_streams.h"
#include "daemon/observing/http_answers.h"
#include "daemon/observing/status_document.h"
#include "protocol/socket_address.h"
#include "protocol/unique_fd.h"

namespace ringdeal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBacklog = 64;
// How long accepting rests after it failed, at the descriptor limit for example.
constexpr std::chrono::seconds kAcceptPause{1};

struct BoundSocket {
  UniqueFd descriptor;
  SocketAddress address;
};

Result<BoundSocket, int> Bind(const SocketAddress& wanted) {
  BoundSocket bound;
  bound.descriptor = UniqueFd(socket(wanted.family(), SOCK_STREAM, 0));
  const int number = bound.descriptor.get();
  const int on = 1;
  if (number < 0 || evutil_make_socket_nonblocking(number) != 0 ||
      evutil_make_socket_closeonexec(number) != 0 ||
      setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      bind(number, wanted.get(), wanted.length) != 0 || listen(number, kBacklog) != 0)
    return errno;
  if (!LocalAddressOf(number, &bound.address)) return errno;
  return bound;
}

uint16_t PortOf(const SocketAddress& address) {
  if (address.family() == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6*>(address.get())->sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in*>(address.get())->sin_port);
}

void AddHeaders(evhttp_request* request, const HttpAnswer& answer) {
  // One request a connection: what the client asks about keeping it must not be answered.
  while (evhttp_remove_header(evhttp_request_get_input_headers(request), "Connection") == 0) {
  }
  evkeyvalq* headers = evhttp_request_get_output_headers(request);
  evhttp_add_header(headers, "Content-Type", answer.content_type);
  evhttp_add_header(headers, "Content-Security-Policy", answer.security_policy.c_str());
  evhttp_add_header(headers, "Connection", "close");
  evhttp_add_header(headers, "Cache-Control", "no-store");
  evhttp_add_header(headers, "Referrer-Policy", "no-referrer");
  evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
  if (answer.status == 405) evhttp_add_header(headers, "Allow", "GET, HEAD");
}

// libevent's request object is freed once the answer is sent.
void Send(evhttp_request* request, const HttpAnswer& answer, bool with_body) {
  AddHeaders(request, answer);
  evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Length",
                    std::to_string(answer.body.size()).c_str());
  const std::unique_ptr<evbuffer, decltype(&evbuffer_free)> body(evbuffer_new(), &evbuffer_free);
  if (body == nullptr) throw std::bad_alloc();
  if (with_body && evbuffer_add(body.get(), answer.body.data(), answer.body.size()) != 0)
    throw std::bad_alloc();
  evhttp_send_reply(request, answer.status, answer.reason, body.get());
}

}  // namespace

// evhttp itself bounds neither the number of its connections nor the life of one that dribbles, and
// tells nobody of a connection before it has brought a whole request. So each is caught on its
// arrival, counted until it is closed, and closed when its time is over.
class HttpServer::Server {
 public:
  Server(EventLoop& loop, BoundSocket bound, std::function<Snapshot()> snapshot,
         const HttpLimits& limits)
      : socket_(std::move(bound.descriptor)),
        port_(PortOf(bound.address)),
        snapshot_(std::move(snapshot)),
        limits_(limits),
        streams_(&loop, limits.streams, [this] { return RenderStatus(Look()); }),
        deadline_(loop.MakeTimer([this] { CloseOverdue(); })),
        retry_(loop.MakeTimer([this] { ResumeAfterError(); })),
        arrival_(event_new(loop.native(), -1, 0, &Server::OnArrival, this)),
        http_(evhttp_new(loop.native())),
        listener_(evconnlistener_new(loop.native(), nullptr, nullptr, LEV_OPT_CLOSE_ON_EXEC, 0,
                                     socket_.get())) {
    char text[kMaxAddressText];
    if (FormatAddress(bound.address, text, sizeof(text))) address_ = text;
    connections_.reserve(limits_.connections);
    arriving_.reserve(limits_.connections);
    if (arrival_ == nullptr || http_ == nullptr || listener_ == nullptr) throw std::bad_alloc();
    evhttp_set_max_headers_size(http_, limits_.header_bytes);
    evhttp_set_max_body_size(http_, limits_.body_bytes);
    evhttp_set_allowed_methods(http_, 0xFFFF);  // unknown ones too: we answer them
    evhttp_set_bevcb(http_, &Server::MakeTransport, this);
    evhttp_set_gencb(http_, &Server::OnRequest, this);
    if (evhttp_bind_listener(http_, listener_) == nullptr) throw std::bad_alloc();
    {
      const std::lock_guard lock(servers_mutex);
      servers[http_] = this;
    }
    evconnlistener_set_error_cb(listener_, &Server::OnAcceptError);
  }

  ~Server() {
    {
      const std::lock_guard lock(servers_mutex);
      servers.erase(http_);
    }
    listener_ = nullptr;  // freed with http_
    evhttp_free(http_);
    for (bufferevent* transport : arriving_) bufferevent_decref(transport);
    event_free(arrival_);
  }

  const std::string& address() const { return address_; }
  uint16_t port() const { return port_; }

  void Describe(Snapshot* snapshot) const {
    snapshot->http_connections = open();
    snapshot->http_connections_full = times_full_;
    snapshot->http_timeouts = timeouts_;
    streams_.Describe(snapshot);
  }

 private:
  struct Connection {
    evhttp_connection* handle;
    Clock::time_point deadline;
  };

  size_t open() const { return connections_.size() + is_streaming_.size() + arriving_.size(); }

  // Called by evhttp for each accepted connection, before it knows the connection itself.
  static bufferevent* MakeTransport(event_base* base, void* argument) noexcept {
    auto* server = static_cast<Server*>(argument);
    bufferevent* transport = bufferevent_socket_new(base, -1, 0);
    if (transport == nullptr) return nullptr;
    bufferevent_incref(transport);
    server->arriving_.push_back(transport);
    // Runs before the loop looks at descriptors again, so before anything can close it.
    event_active(server->arrival_, 0, 0);
    server->UpdateAccepting();
    return transport;
  }

  // evhttp has by now put its connection object behind the transport, as the argument of the
  // callbacks: there is no other way to it. No callbacks: it gave the connection up at once.
  static void OnArrival(evutil_socket_t, short, void* argument) noexcept {
    auto* server = static_cast<Server*>(argument);
    for (bufferevent* transport : server->arriving_) {
      bufferevent_event_cb callback = nullptr;
      void* handle = nullptr;
      bufferevent_getcb(transport, nullptr, nullptr, &callback, &handle);
      if (callback != nullptr) server->Follow(static_cast<evhttp_connection*>(handle));
      bufferevent_decref(transport);
    }
    server->arriving_.clear();
    server->UpdateAccepting();
    server->ArmDeadline();
  }

  void Follow(evhttp_connection* handle) {
    evhttp_connection_set_closecb(handle, &Server::OnClosed, this);
    connections_.push_back({handle, Clock::now() + limits_.connection_time});
  }

  static void OnClosed(evhttp_connection* handle, void* argument) noexcept {
    auto* server = static_cast<Server*>(argument);
    server->StopFollowing(handle);
    if (server->is_streaming_.erase(handle) != 0) server->streams_.Forget(handle);
    server->UpdateAccepting();
  }

  void StopFollowing(const evhttp_connection* handle) {
    std::erase_if(connections_, [&](const Connection& one) { return one.handle == handle; });
  }

  // They are in the order of their deadlines.
  void ArmDeadline() {
    if (!connections_.empty()) deadline_->Arm(connections_.front().deadline - Clock::now());
  }

  void CloseOverdue() {
    while (!connections_.empty() && connections_.front().deadline <= Clock::now()) {
      evhttp_connection* handle = connections_.front().handle;
      connections_.erase(connections_.begin());
      ++timeouts_;
      evhttp_connection_free(handle);
    }
    UpdateAccepting();
    ArmDeadline();
  }

  // Without this an accept that fails at the descriptor limit would be tried without end. The
  // argument of the listener is evhttp's, so the server is looked up.
  static void OnAcceptError(evconnlistener*, void* http) noexcept {
    Server* server;
    {
      const std::lock_guard lock(servers_mutex);
      server = servers.at(static_cast<evhttp*>(http));
    }
    server->resting_ = true;
    server->UpdateAccepting();
    server->retry_->Arm(kAcceptPause);
  }

  void ResumeAfterError() {
    resting_ = false;
    UpdateAccepting();
  }

  void UpdateAccepting() {
    if (listener_ == nullptr) return;
    const bool full = open() >= limits_.connections;
    if (full && accepting_) ++times_full_;
    const bool accept = !full && !resting_;
    if (accept == accepting_) return;
    accepting_ = accept;
    if (accept) {
      evconnlistener_enable(listener_);
    } else {
      evconnlistener_disable(listener_);
    }
  }

  static void OnRequest(evhttp_request* request, void* argument) noexcept {
    auto* server = static_cast<Server*>(argument);
    try {
      server->Answer(request);
    } catch (...) {
      evhttp_send_error(request, 500, nullptr);
    }
  }

  void Answer(evhttp_request* request) {
    // A number: that of an unknown method is none of the enum's.
    const unsigned method = evhttp_request_get_command(request);
    if (method != EVHTTP_REQ_GET && method != EVHTTP_REQ_HEAD)
      return Send(request, MethodNotAllowed(), true);
    const char* found = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request));
    const std::string_view path = found != nullptr ? found : "";
    const bool with_body = method == EVHTTP_REQ_GET;
    if (path == kEventsPath && with_body) return Stream(request);
    Send(request, AnswerTo(path, [this] { return Look(); }), with_body);
  }

  void Stream(evhttp_request* request) {
    if (!streams_.MayBegin()) return Send(request, TooManyStreams(), true);
    AddHeaders(request, StreamHead());
    evhttp_connection* handle = evhttp_request_get_connection(request);
    StopFollowing(handle);
    is_streaming_.insert(handle);
    streams_.Begin(request);
  }

  Snapshot Look() const {
    Snapshot taken = snapshot_();
    Describe(&taken);
    return taken;
  }

  static inline std::mutex servers_mutex;
  static inline std::map<evhttp*, Server*> servers;  // guarded by servers_mutex

  const UniqueFd socket_;
  std::string address_;
  const uint16_t port_;
  const std::function<Snapshot()> snapshot_;
  const HttpLimits limits_;
  EventStreams streams_;
  const std::unique_ptr<EventLoop::Watch> deadline_;
  const std::unique_ptr<EventLoop::Watch> retry_;
  event* const arrival_;
  evhttp* const http_;
  evconnlistener* listener_;
  std::vector<bufferevent*> arriving_;   // each with a reference of ours
  std::vector<Connection> connections_;  // oldest first, without the streams
  std::set<evhttp_connection*> is_streaming_;
  bool accepting_ = true;
  bool resting_ = false;  // after an accept error
  uint64_t times_full_ = 0;
  uint64_t timeouts_ = 0;
};

HttpServer::HttpServer(std::unique_ptr<Server> server) : server_(std::move(server)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>, std::string> HttpServer::Listen(
    EventLoop& loop, const std::string& address, std::function<Snapshot()> snapshot,
    HttpLimits limits) {
  SocketAddress wanted;
  if (!ParseAddress(address.c_str(), &wanted) || wanted.family() == AF_UNIX)
    return "HTTP: \"" + address + "\" is no address such as 127.0.0.1:9945 or [::1]:9945";
  auto bound = Bind(wanted);
  if (!bound) {
    return "HTTP: cannot listen on " + address + ": " +
           std::generic_category().message(bound.error());
  }
  // libevent writes without MSG_NOSIGNAL.
  signal(SIGPIPE, SIG_IGN);
  return std::unique_ptr<HttpServer>(new HttpServer(
      std::make_unique<Server>(loop, std::move(bound).value(), std::move(snapshot), limits)));
}

const std::string& HttpServer::address() const { return server_->address(); }
uint16_t HttpServer::port() const { return server_->port(); }
void HttpServer::Describe(Snapshot* snapshot) const { server_->Describe(snapshot); }

}  // namespace ringdeal
