// What a client sends to the real HTTP server, over a connection of its own. The input's first line
// is the name of a listener (adopted ones are named by others), the rest is sent. Every answer has
// the length that it says, no name begins a line of its own, and nothing is left behind.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "daemon/observing/http_server.h"
#include "daemon/operating/event_loop.h"
#include "protocol/socket_address.h"
#include "protocol/unique_fd.h"
#include "tests/fuzz/require.h"

namespace ringdeal {
namespace {

// One thread is server and client, so that an input does the same each time.
class Rig {
 public:
  Rig() {
    auto server = HttpServer::Listen(loop_, "127.0.0.1:0", [this] { return Seen(); }, {});
    Require(server.ok(), "the server listens");
    server_ = std::move(server).value();
    Require(ParseAddress(server_->address().c_str(), &address_), "it says where");
  }

  std::string Ask(const std::string& listener, const std::string& bytes) {
    listener_ = listener;
    UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    // Closed with a reset: a minute of this must not use up the machine's ports.
    const linger now = {1, 0};
    setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    if (!Connect(client.get())) return {};
    Require(send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(bytes.size()),
            "a request fits into the socket's buffer");
    shutdown(client.get(), SHUT_WR);
    std::string answer;
    const auto watch = loop_.WatchReadable(client.get(), [&] { Read(client.get(), &answer); });
    loop_.Run();
    Snapshot own;
    server_->Describe(&own);
    Require(own.http_connections == 0, "no connection is left");
    Require(own.http_timeouts == 0, "no client that has said all is waited for");
    return answer;
  }

 private:
  // False if the machine has no port for it. A signal, such as the fuzzer's clock, is no failure.
  bool Connect(int client) const {
    int result = 0;
    do {
      result = connect(client, address_.get(), address_.length);
    } while (result != 0 && (errno == EINTR || errno == EALREADY));
    if (result != 0 && errno == EADDRNOTAVAIL) return false;
    Require(result == 0 || errno == EISCONN, "a client connects");
    return true;
  }

  Snapshot Seen() const {
    Snapshot snapshot;
    ListenerSnapshot listener;
    listener.name = listener_;
    listener.address = listener_;
    snapshot.listeners.push_back(listener);
    return snapshot;
  }

  void Read(int client, std::string* answer) {
    char block[16 * 1024];
    const ssize_t bytes = recv(client, block, sizeof(block), MSG_DONTWAIT);
    if (bytes > 0) answer->append(block, static_cast<size_t>(bytes));
    if (bytes < 0 && errno == EAGAIN) return;
    if (bytes < 0) answer->clear();  // reset: what was read may be a part
    if (bytes <= 0) loop_.Stop();
  }

  EventLoop loop_;
  std::unique_ptr<HttpServer> server_;
  SocketAddress address_;
  std::string listener_;
};

constexpr size_t kLongAnswer = 8 * 1024;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

void CheckAnswer(std::string_view answer, std::string_view request) {
  if (answer.starts_with(kContinue)) answer.remove_prefix(kContinue.size());
  if (answer.empty()) return;  // nothing that is a request
  Require(answer.starts_with("HTTP/"), "an answer begins with its version");
  const size_t end = answer.find("\r\n\r\n");
  Require(end != std::string_view::npos, "an answer has a head");
  const std::string_view head = answer.substr(0, end);
  const std::string_view body = answer.substr(end + 4);
  const size_t at = head.find("\r\nContent-Length: ");
  if (at == std::string_view::npos) return;
  const size_t length = std::strtoul(std::string(head.substr(at + 18)).c_str(), nullptr, 10);
  const bool without_body = request.starts_with("HEAD ") && body.empty();
  // libevent ends a long answer early if it meets the client's end of file while it writes.
  const bool whole = length >= kLongAnswer ? body.size() <= length : body.size() == length;
  Require(whole || without_body, "an answer is as long as it says");
  if (head.find("503 Service Unavailable") != std::string_view::npos && !without_body) {
    Require(std::count(body.begin(), body.end(), '\n') == 1, "one line for one listener");
  }
}

}  // namespace
}  // namespace ringdeal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringdeal;
  static Rig& rig = *new Rig;
  const std::string input(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(input.find('\n'), input.size());
  const std::string request = input.substr(std::min(line + 1, input.size()));
  CheckAnswer(rig.Ask(input.substr(0, line), request), request);
  return 0;
}
