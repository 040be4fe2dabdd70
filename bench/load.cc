// load ADDRESS CLIENTS kept|each PATH SECONDS [REQUESTS]: so many clients ask again as soon as they
// are answered, over kept connections or over one for each request, and what they saw is printed as
// JSON. Ends after SECONDS, or after REQUESTS if that is given. Linux only.
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "bench/processes.h"

namespace ringdeal::bench {
namespace {

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

struct Client {
  int connection = -1;
  bool asked = false;
  uint64_t begun_ns = 0;
  size_t length = 0;
  char answer[1024];
};

class Load {
 public:
  Load(const SocketAddress& server, int clients, bool keeps, const char* path)
      : server_(server), keeps_(keeps), poller_(epoll_create1(EPOLL_CLOEXEC)), clients_(clients) {
    request_ = std::string("GET ") + path + " HTTP/1.1\r\nHost: bench\r\n" +
               (keeps ? "\r\n" : "Connection: close\r\n\r\n");
  }

  void Run(double seconds, uint64_t most) {
    begun_ns_ = NowNs();
    end_ns_ = begun_ns_ + static_cast<uint64_t>(seconds * 1e9);
    most_ = most;
    for (Client& client : clients_) Begin(&client);
    while (under_way_ > 0) {
      epoll_event events[256];
      const int ready = epoll_wait(poller_, events, 256, -1);
      for (int i = 0; i < ready; ++i) Step(static_cast<Client*>(events[i].data.ptr));
    }
    ended_ns_ = NowNs();
  }

  void Print() {
    std::sort(took_ns_.begin(), took_ns_.end());
    std::printf("{\"requests\": %zu, \"seconds\": %.6f, \"p50_us\": %.1f, \"p99_us\": %.1f, ",
                took_ns_.size(), static_cast<double>(ended_ns_ - begun_ns_) / 1e9, Percentile(0.5),
                Percentile(0.99));
    std::printf("\"max_us\": %.1f, \"workers\": {", Percentile(1));
    const char* separator = "";
    for (const auto& [pid, count] : workers_) {
      std::printf("%s\"%ld\": %lu", separator, pid, count);
      separator = ", ";
    }
    std::printf("}}\n");
  }

 private:
  double Percentile(double part) const {
    if (took_ns_.empty()) return 0;
    const auto last = static_cast<double>(took_ns_.size() - 1);
    return static_cast<double>(took_ns_[static_cast<size_t>(part * last)]) / 1e3;
  }

  bool IsOver(uint64_t now_ns) const { return most_ > 0 ? begun_ >= most_ : now_ns >= end_ns_; }

  void Begin(Client* client) {
    const uint64_t now_ns = NowNs();
    if (IsOver(now_ns)) return;
    ++begun_;
    ++under_way_;
    client->begun_ns = now_ns;
    client->length = 0;
    client->asked = false;
    if (client->connection < 0) {
      Connect(client);
    } else {
      Ask(client);
    }
  }

  void Connect(Client* client) {
    client->connection = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    // Many source addresses, so that ports do not run out.
    const int late = 1;
    setsockopt(client->connection, SOL_IP, 24 /* IP_BIND_ADDRESS_NO_PORT */, &late, sizeof(late));
    sockaddr_in source = {};
    source.sin_family = AF_INET;
    source.sin_addr.s_addr = htonl(0x7f010001 + static_cast<uint32_t>(begun_ % 60'000));
    if (bind(client->connection, reinterpret_cast<sockaddr*>(&source), sizeof(source)) != 0)
      Die("bind");
    if (connect(client->connection, server_.get(), server_.length) != 0 && errno != EINPROGRESS)
      Die("connect");
    epoll_event interest = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.ptr = client}};
    epoll_ctl(poller_, EPOLL_CTL_ADD, client->connection, &interest);
  }

  bool Ask(Client* client) {
    const ssize_t sent = send(client->connection, request_.data(), request_.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == ENOTCONN)) return false;
    if (sent < 0) Die("a request");
    client->asked = true;
    return true;
  }

  void Step(Client* client) {
    if (client->connection < 0 || (!client->asked && !Ask(client))) return;
    while (true) {
      const ssize_t bytes = recv(client->connection, client->answer + client->length,
                                 sizeof(client->answer) - 1 - client->length, 0);
      if (bytes < 0 && errno == EAGAIN) return;
      if (bytes < 0) Die("an answer");
      if (bytes == 0) Die("an answer that did not come");
      client->length += static_cast<size_t>(bytes);
      client->answer[client->length] = '\0';
      if (!IsAnswered(*client)) continue;
      Count(client);
      return;
    }
  }

  static bool IsAnswered(const Client& client) {
    const char* body = std::strstr(client.answer, "\r\n\r\n");
    const char* length = strcasestr(client.answer, "\r\ncontent-length:");
    if (body == nullptr || length == nullptr) return false;
    const size_t head = static_cast<size_t>(body + 4 - client.answer);
    return client.length >= head + std::strtoul(length + 17, nullptr, 10);
  }

  void Count(Client* client) {
    took_ns_.push_back(NowNs() - client->begun_ns);
    ++workers_[std::atol(std::strstr(client->answer, "\r\n\r\n") + 4)];
    if (!keeps_) {
      close(client->connection);
      client->connection = -1;
    }
    --under_way_;
    Begin(client);
  }

  const SocketAddress server_;
  const bool keeps_;
  const int poller_;
  std::vector<Client> clients_;
  std::string request_;
  std::vector<uint64_t> took_ns_;
  std::map<long, uint64_t> workers_;
  uint64_t begun_ns_ = 0, end_ns_ = 0, ended_ns_ = 0, begun_ = 0, most_ = 0;
  int under_way_ = 0;
};

}  // namespace
}  // namespace ringdeal::bench

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "Usage: load ADDRESS CLIENTS kept|each PATH SECONDS [REQUESTS]\n");
    return 2;
  }
  ringdeal::SocketAddress server;
  if (!ringdeal::ParseAddress(argv[1], &server)) return 2;
  ringdeal::bench::Load load(server, std::atoi(argv[2]), std::strcmp(argv[3], "kept") == 0,
                             argv[4]);
  load.Run(std::atof(argv[5]), argc > 6 ? std::strtoull(argv[6], nullptr, 10) : 0);
  load.Print();
  return 0;
}
