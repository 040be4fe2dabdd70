#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/observing/http_server.h"
#include "protocol/socket_address.h"
#include "protocol/unique_fd.h"
#include "tests/unit/observing_sample.h"

namespace ringdeal {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A client of one connection. Everything gives up after half a minute.
class Client {
 public:
  explicit Client(const std::string& address) {
    SocketAddress where;
    if (!ParseAddress(address.c_str(), &where)) std::abort();
    socket_ = UniqueFd(socket(where.family(), SOCK_STREAM, 0));
    const timeval patience = {30, 0};
    const int room = 64 * 1024;
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(socket_.get(), where.get(), where.length) != 0) std::abort();
  }

  bool Send(const std::string& text) {
    return send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }

  // All until the server closes; "(no end)" if it does not.
  std::string ReadToEnd() {
    std::string text;
    char buffer[65536];
    for (;;) {
      const ssize_t bytes = recv(socket_.get(), buffer, sizeof(buffer), 0);
      if (bytes > 0) {
        text.append(buffer, static_cast<size_t>(bytes));
      } else if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return text + "(no end)";
      } else {
        return text;
      }
    }
  }

  // What has come, at least something; nothing at the end.
  std::string ReadSome() {
    char buffer[65536];
    const ssize_t bytes = recv(socket_.get(), buffer, sizeof(buffer), 0);
    return bytes > 0 ? std::string(buffer, static_cast<size_t>(bytes)) : std::string();
  }

  std::string Ask(const std::string& request) {
    Send(request);
    return ReadToEnd();
  }

  bool Answered(milliseconds patience) {
    pollfd entry = {socket_.get(), POLLIN, 0};
    return poll(&entry, 1, static_cast<int>(patience.count())) == 1;
  }

  // Closes with a reset.
  void Abort() {
    const linger now = {1, 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    socket_.Reset();
  }

  void Close() { socket_.Reset(); }

 private:
  UniqueFd socket_;
};

std::string Get(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"; }

std::string BodyOf(const std::string& answer) {
  const size_t head_end = answer.find("\r\n\r\n");
  return head_end == std::string::npos ? "(no body)" : answer.substr(head_end + 4);
}

// Renders to more than the sockets between server and client can hold.
constexpr size_t kLargeBytes = 12u << 20;

Snapshot LargeSnapshot() {
  Snapshot snapshot;
  snapshot.version = std::string(kLargeBytes, 'x');
  return snapshot;
}

class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpLimits limits = {}, const std::string& address = "127.0.0.1:0") {
    auto server = HttpServer::Listen(
        loop_, address, [this] { return snapshot_(); }, limits);
    ASSERT_TRUE(server) << server.error();
    server_ = std::move(server).value();
    address_ = server_->address();
    runner_ = std::thread([this] { loop_.Run(); });
  }

  void TearDown() override {
    if (!runner_.joinable()) return;
    loop_.Stop();
    runner_.join();
    server_.reset();
  }

  template <typename Work>
  auto OnLoop(Work work) {
    std::packaged_task<decltype(work())()> task(std::move(work));
    auto result = task.get_future();
    loop_.Post([&task] { task(); });
    return result.get();
  }

  Snapshot OwnCounts() {
    return OnLoop([this] {
      Snapshot counts;
      server_->Describe(&counts);
      return counts;
    });
  }

  void WaitForOpenConnections(uint64_t count) {
    const auto end = std::chrono::steady_clock::now() + seconds(30);
    while (OwnCounts().http_connections != count) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::yield();
    }
  }

  std::function<Snapshot()> snapshot_ = [] { return SampleSnapshot(); };
  EventLoop loop_;
  std::unique_ptr<HttpServer> server_;
  std::string address_;
  std::thread runner_;
};

TEST_F(HttpServerTest, AnswersWithWhatItsHeadersSay) {
  Start();
  const std::string answer = Client(address_).Ask(Get("/metrics"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"));
  const std::string body = BodyOf(answer);
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: " + std::to_string(body.size()) + "\r\n"));
  EXPECT_THAT(body, HasSubstr("ringdeal_accepted_total{listener=\"web\"} 201\n"));
  EXPECT_THAT(body, HasSubstr("ringdeal_http_connections 1\n"));  // not the sample's
}

TEST_F(HttpServerTest, KnowsItsPaths) {
  Start();
  EXPECT_THAT(Client(address_).Ask(Get("/status.json")), EndsWith("}\n"));
  EXPECT_THAT(Client(address_).Ask(Get("/healthz")), EndsWith("\r\n\r\nok\n"));
  EXPECT_THAT(Client(address_).Ask(Get("/readyz")), EndsWith("\r\n\r\nready\n"));
  EXPECT_THAT(Client(address_).Ask(Get("/nothing")), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Client(address_).Ask(Get("/healthz?probe=1")), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Client(address_).Ask(Get("http://other/healthz")), StartsWith("HTTP/1.1 200 "));
  snapshot_ = [] {
    Snapshot snapshot;
    snapshot.listeners.push_back(SampleListener("web"));
    return snapshot;
  };
  const std::string answer = Client(address_).Ask(Get("/readyz"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nlistener web has no worker\n"));
}

TEST_F(HttpServerTest, SendsNoBodyToHead) {
  Start();
  const std::string get = Client(address_).Ask(Get("/status.json"));
  const std::string head = Client(address_).Ask("HEAD /status.json HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(head,
              HasSubstr("\r\nContent-Length: " + std::to_string(BodyOf(get).size()) + "\r\n"));
  EXPECT_EQ(BodyOf(head), "");
}

TEST_F(HttpServerTest, RefusesEveryMethodThatIsNoReading) {
  Start();
  for (const char* method :
       {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "PROPFIND", "get"}) {
    const std::string answer =
        Client(address_).Ask(std::string(method) + " /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 405 Method Not Allowed\r\n")) << method;
    EXPECT_THAT(answer, HasSubstr("\r\nAllow: GET, HEAD\r\n")) << method;
  }
  EXPECT_THAT(Client(address_).Ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"),
              StartsWith("HTTP/1.1 405 "));
}

TEST_F(HttpServerTest, KeepsNoTunnelOpen) {
  HttpLimits limits;
  limits.connection_time = milliseconds(200);
  Start(limits);
  // evhttp leaves this one open after the answer; the limit ends it.
  EXPECT_THAT(Client(address_).Ask("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"),
              StartsWith("HTTP/1.1 405 "));
  WaitForOpenConnections(0);
}

TEST_F(HttpServerTest, AnswersOneRequestAConnectionWhateverTheClientAsks) {
  Start();
  const std::string old = Client(address_).Ask(
      "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(old, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(old, Not(HasSubstr("keep-alive")));
  EXPECT_THAT(old, EndsWith("\r\n\r\nok\n"));
  const std::string two = Client(address_).Ask(Get("/healthz") + Get("/healthz"));
  EXPECT_THAT(two, EndsWith("\r\n\r\nok\n"));
  EXPECT_EQ(two.find("HTTP/1.1", 1), std::string::npos);
}

TEST_F(HttpServerTest, SurvivesWhatIsNoRequest) {
  Start();
  for (const std::string& garbage :
       {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string(100, '\0') + "\r\n\r\n",
        std::string("GET /metrics FTP/9.9\r\n\r\n"),
        std::string("GET /metrics HTTP/1.1\r\n:\r\nx\r\n"), std::string("\x16\x03\x01\x02\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        std::string("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"),
        std::string("GET http:// HTTP/1.1\r\n\r\n"), std::string("GET %zz%00 HTTP/1.1\r\n\r\n")}) {
    Client client(address_);
    client.Send(garbage);
    client.Close();
    EXPECT_THAT(Client(address_).Ask(Get("/healthz")), EndsWith("ok\n"));
  }
  WaitForOpenConnections(0);
}

TEST_F(HttpServerTest, RefusesAHugeHead) {
  Start();
  // The answer can be lost in the reset that unread bytes cause; that it is not served is what
  // counts.
  const std::string header =
      "GET /healthz HTTP/1.1\r\nX: " + std::string(1 << 20, 'x') + "\r\n\r\n";
  EXPECT_THAT(Client(address_).Ask(header), Not(HasSubstr(" 200 ")));
  const std::string line = "GET /" + std::string(1 << 20, 'x');
  EXPECT_THAT(Client(address_).Ask(line), Not(HasSubstr(" 200 ")));
  std::string many = "GET /healthz HTTP/1.1\r\n";
  for (int i = 0; i < 4096; ++i) many += "A" + std::to_string(i) + ": b\r\n";
  EXPECT_THAT(Client(address_).Ask(many + "\r\n"), Not(HasSubstr(" 200 ")));
  EXPECT_THAT(Client(address_).Ask(Get("/healthz")), EndsWith("ok\n"));
  WaitForOpenConnections(0);
}

TEST_F(HttpServerTest, RefusesAHugeBody) {
  Start();
  const std::string request = "POST /healthz HTTP/1.1\r\nContent-Length: 1048576\r\n\r\n";
  EXPECT_THAT(Client(address_).Ask(request + std::string(1 << 20, 'x')), Not(HasSubstr(" 405 ")));
  EXPECT_THAT(Client(address_).Ask(Get("/healthz")), EndsWith("ok\n"));
  WaitForOpenConnections(0);
}

TEST_F(HttpServerTest, ClosesAClientThatDribbles) {
  HttpLimits limits;
  limits.connection_time = milliseconds(300);
  Start(limits);
  const auto start = std::chrono::steady_clock::now();
  Client client(address_);
  // A byte before each 50 ms are over: never silent for as long as the limit.
  ASSERT_TRUE(client.Send("GET /"));
  while (!client.Answered(milliseconds(50))) {
    client.Send("x");
    ASSERT_LT(std::chrono::steady_clock::now() - start, seconds(20));
  }
  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_GE(std::chrono::steady_clock::now() - start, limits.connection_time);
  EXPECT_EQ(OwnCounts().http_timeouts, 1u);
  EXPECT_THAT(Client(address_).Ask(Get("/healthz")), EndsWith("ok\n"));
}

TEST_F(HttpServerTest, ClosesAClientThatSaysNothing) {
  HttpLimits limits;
  limits.connection_time = milliseconds(100);
  Start(limits);
  std::vector<Client> clients;
  for (int i = 0; i < 5; ++i) clients.emplace_back(address_);
  for (auto& client : clients) EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_EQ(OwnCounts().http_timeouts, 5u);
  WaitForOpenConnections(0);
}

TEST_F(HttpServerTest, ClosesAClientThatDoesNotRead) {
  snapshot_ = LargeSnapshot;
  HttpLimits limits;
  limits.connection_time = milliseconds(1000);
  Start(limits);
  Client client(address_);
  ASSERT_TRUE(client.Send(Get("/status.json")));
  ASSERT_TRUE(client.Answered(seconds(30)));
  const auto end = std::chrono::steady_clock::now() + seconds(30);
  while (OwnCounts().http_timeouts == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    EXPECT_THAT(Client(address_).Ask(Get("/healthz")), EndsWith("ok\n"));
  }
  WaitForOpenConnections(0);
  EXPECT_LT(client.ReadToEnd().size(), kLargeBytes);
}

TEST_F(HttpServerTest, SendsALargeDocumentWhole) {
  snapshot_ = LargeSnapshot;
  HttpLimits limits;
  limits.connection_time = seconds(60);
  Start(limits);
  const std::string answer = Client(address_).Ask(Get("/status.json"));
  const std::string body = BodyOf(answer);
  EXPECT_GT(body.size(), kLargeBytes);
  EXPECT_THAT(answer.substr(0, 400),
              HasSubstr("\r\nContent-Length: " + std::to_string(body.size()) + "\r\n"));
}

// Until it has been seen so often.
bool SeesEvents(Client* client, int count) {
  std::string text;
  const auto end = std::chrono::steady_clock::now() + seconds(30);
  while (std::chrono::steady_clock::now() < end) {
    text += client->ReadSome();
    int seen = 0;
    for (size_t at = 0; (at = text.find("event: status\ndata: {", at)) != std::string::npos; ++at)
      ++seen;
    if (seen >= count) return true;
  }
  return false;
}

TEST_F(HttpServerTest, TellsEachReaderAgainAndAgain) {
  HttpLimits limits;
  limits.connection_time = milliseconds(1000);  // which ends no stream
  limits.streams.interval = milliseconds(50);
  Start(limits);
  Client first(address_), second(address_);
  first.Send(Get("/events"));
  second.Send(Get("/events"));
  EXPECT_TRUE(SeesEvents(&first, 25));
  EXPECT_TRUE(SeesEvents(&second, 25));
  EXPECT_EQ(OwnCounts().http_streams, 2u);
  EXPECT_EQ(OwnCounts().http_timeouts, 0u);
  first.Close();
  WaitForOpenConnections(1);
  EXPECT_TRUE(SeesEvents(&second, 2));
  second.Abort();
  WaitForOpenConnections(0);
  EXPECT_EQ(OwnCounts().http_streams, 0u);
}

TEST_F(HttpServerTest, LeavesRoomForScrapesBesideItsStreams) {
  HttpLimits limits;
  limits.streams.streams = 2;
  Start(limits);
  std::vector<Client> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back(address_);
    readers.back().Send(Get("/events"));
    EXPECT_TRUE(SeesEvents(&readers.back(), 1));
  }
  EXPECT_THAT(Client(address_).Ask(Get("/events")), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(Client(address_).Ask(Get("/healthz")), EndsWith("ok\n"));
  EXPECT_EQ(OwnCounts().http_streams_full, 1u);
  readers.clear();
  WaitForOpenConnections(0);
  Client late(address_);
  late.Send(Get("/events"));
  EXPECT_TRUE(SeesEvents(&late, 1));
}

TEST_F(HttpServerTest, DropsAReaderThatDoesNotReadAndHoldsNoMoreThanOneEventForIt) {
  snapshot_ = LargeSnapshot;
  HttpLimits limits;
  limits.streams.interval = milliseconds(50);
  limits.streams.patience = milliseconds(300);
  Start(limits);
  Client reader(address_);
  ASSERT_TRUE(reader.Send(Get("/events")));
  const auto end = std::chrono::steady_clock::now() + seconds(30);
  while (OwnCounts().http_streams_dropped == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    EXPECT_THAT(Client(address_).Ask(Get("/healthz")), EndsWith("ok\n"));
  }
  WaitForOpenConnections(0);
  EXPECT_LT(reader.ReadToEnd().size(), 2 * kLargeBytes);
}

TEST_F(HttpServerTest, IsNotKeptByAReaderThatTalks) {
  HttpLimits limits;
  limits.streams.interval = milliseconds(20);
  Start(limits);
  Client talker(address_);
  talker.Send(Get("/events"));
  for (int i = 0; i < 50; ++i) talker.Send(Get("/events"));
  EXPECT_TRUE(SeesEvents(&talker, 5));
  EXPECT_EQ(OwnCounts().http_streams, 1u);
  talker.Abort();
  WaitForOpenConnections(0);
}

TEST_F(HttpServerTest, AnswersHeadOfAStreamAndEndsIt) {
  Start();
  const std::string head = Client(address_).Ask("HEAD /events HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("\r\nContent-Type: text/event-stream\r\n"));
  EXPECT_EQ(BodyOf(head), "");
  WaitForOpenConnections(0);
}

TEST_F(HttpServerTest, LetsConnectionsBeyondItsLimitWait) {
  HttpLimits limits;
  limits.connections = 4;
  limits.connection_time = seconds(60);
  Start(limits);
  std::vector<Client> idle;
  for (int i = 0; i < 4; ++i) idle.emplace_back(address_);
  WaitForOpenConnections(4);
  Client fifth(address_);
  ASSERT_TRUE(fifth.Send(Get("/healthz")));
  EXPECT_FALSE(fifth.Answered(milliseconds(100)));
  const Snapshot counts = OwnCounts();
  EXPECT_EQ(counts.http_connections, 4u);
  EXPECT_EQ(counts.http_connections_full, 1u);
  idle.pop_back();
  EXPECT_THAT(fifth.ReadToEnd(), EndsWith("ok\n"));
  // A place each time, whether a client asks or gives up.
  idle[0].Abort();
  EXPECT_THAT(idle[1].Ask(Get("/healthz")), EndsWith("ok\n"));
  idle[2].Close();
  WaitForOpenConnections(0);
}

TEST_F(HttpServerTest, CountsNoConnectionTwice) {
  Start();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([this] {
      for (int i = 0; i < 50; ++i) {
        Client client(address_);
        if (i % 3 == 0) {
          client.Abort();
        } else {
          EXPECT_THAT(client.Ask(Get("/healthz")), EndsWith("ok\n"));
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  WaitForOpenConnections(0);
}

TEST_F(HttpServerTest, AnswersAnErrorWhenTheSnapshotFails) {
  snapshot_ = []() -> Snapshot { throw std::runtime_error("no"); };
  Start();
  EXPECT_THAT(Client(address_).Ask(Get("/metrics")), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(Client(address_).Ask(Get("/healthz")), EndsWith("ok\n"));
}

TEST_F(HttpServerTest, RestsAtTheDescriptorLimitAndGoesOn) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer itself needs descriptors";
#endif
  Start();
  Client client(address_);  // its descriptor is there before the limit
  WaitForOpenConnections(1);
  client.Close();
  WaitForOpenConnections(0);
  Client late(address_);
  WaitForOpenConnections(1);
  // From here on no number is free: all below the limit are taken.
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<UniqueFd> fill;
  for (;;) {
    fill.emplace_back(open("/dev/null", O_RDONLY));
    ASSERT_TRUE(fill.back());
    rlimit tight = before;
    tight.rlim_cur = static_cast<rlim_t>(fill.back().get()) + 1;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
    const UniqueFd probe(open("/dev/null", O_RDONLY));
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    if (!probe) break;
  }
  UniqueFd waiting(socket(AF_INET, SOCK_STREAM, 0));
  SocketAddress where;
  ASSERT_TRUE(ParseAddress(address_.c_str(), &where));
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(waiting.get()) + 1;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  const auto cpu_time = [] {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto cpu_before = OnLoop(cpu_time);
  ASSERT_EQ(connect(waiting.get(), where.get(), where.length), 0);
  const std::string request = Get("/healthz");
  ASSERT_EQ(send(waiting.get(), request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  pollfd entry = {waiting.get(), POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 500), 0);
  EXPECT_LT(OnLoop(cpu_time) - cpu_before, milliseconds(250));  // it does not try without end
  EXPECT_THAT(late.Ask(Get("/healthz")), EndsWith("ok\n"));     // who is in is served
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(poll(&entry, 1, 30000), 1);
}

TEST_F(HttpServerTest, GoesWithConnectionsOpen) {
  Start();
  Client silent(address_);
  Client half(address_);
  ASSERT_TRUE(half.Send("GET /met"));
  WaitForOpenConnections(2);
  TearDown();
  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_EQ(half.ReadToEnd(), "");
}

TEST_F(HttpServerTest, ListensOnIpv6) {
  Start({}, "[::1]:0");
  EXPECT_EQ(address_, "[::1]:" + std::to_string(server_->port()));
  EXPECT_THAT(Client(address_).Ask(Get("/healthz")), EndsWith("ok\n"));
}

TEST_F(HttpServerTest, SaysInOneLineWhyItCannotListen) {
  Start();
  EventLoop other;
  const auto error = [&](const std::string& address) {
    auto server = HttpServer::Listen(other, address, [] { return Snapshot(); });
    return server.ok() ? std::string("(it listens)") : server.error();
  };
  EXPECT_EQ(error(address_), "HTTP: cannot listen on " + address_ + ": Address already in use");
  for (const char* wrong : {"", "localhost:9945", "127.0.0.1", "127.0.0.1:70000", "unix:/tmp/x"}) {
    EXPECT_EQ(error(wrong), "HTTP: \"" + std::string(wrong) +
                                "\" is no address such as 127.0.0.1:9945 or [::1]:9945");
  }
}

}  // namespace
}  // namespace ringdeal
