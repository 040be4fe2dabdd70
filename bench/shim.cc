// What single calls cost in a program that listens: run bare and under the preload library, and the
// difference is what that adds. Prints the median nanoseconds of each call over batches. Linux
// only.

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "bench/processes.h"

namespace ringdeal::bench {
namespace {

constexpr int kCalls = 1000;       // in a batch
constexpr int kConnections = 32;   // in a batch: fewer than a channel holds
constexpr int kArrivalMs = 5'000;  // until a batch must have come
constexpr int kMostTries = 10;     // for a batch: one that comes late measures nothing
constexpr int kQuietMs = 3;        // without a new arrival before a batch is accepted

double NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double EachOf(int calls, const std::function<void()>& loop) {
  const double before = NowNs();
  loop();
  return (NowNs() - before) / calls;
}

double MedianOf(int batches, const std::function<void()>& call) {
  std::vector<double> each;
  for (int batch = 0; batch < batches; ++batch) {
    each.push_back(EachOf(kCalls, [&] {
      for (int i = 0; i < kCalls; ++i) call();
    }));
  }
  return Median(each);
}

// The listening server with its event loop, its clients, and what is ready beside the listener.
class Program {
 public:
  Program() : listener_(ListenOnLoopback(&address_)), loop_(epoll_create1(EPOLL_CLOEXEC)) {
    if (pipe2(pipe_, O_CLOEXEC) != 0) Die("pipe2");
    Watch(listener_.get());
  }

  // Under the preload library, until the connections come through the channel.
  void WarmUp() {
    for (int i = 0; i < 20; ++i) MeasureConnections();
    accept_ns_.clear();
    close_ns_.clear();
  }

  void MeasureConnections() {
    std::vector<UniqueFd> clients;
    for (int i = 0; i < kConnections; ++i) clients.push_back(Connect());
    AwaitListener();
    const timespec quiet = {.tv_sec = 0, .tv_nsec = kQuietMs * 1'000'000};
    nanosleep(&quiet, nullptr);
    std::vector<int> accepted;
    int misses = 0;
    const double accept_ns = EachOf(kConnections, [&] { AcceptAll(&accepted, &misses); });
    const double close_ns = EachOf(kConnections, [&] {
      for (const int connection : accepted) close(connection);
    });
    if (misses > 0) return;  // waited for the rest: not what a call costs
    accept_ns_.push_back(accept_ns);
    close_ns_.push_back(close_ns);
  }

  int batches() const { return static_cast<int>(accept_ns_.size()); }

  void MeasureCalls(int batches) {
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    char byte = 0;
    Print("clock", MedianOf(batches, [] { NowNs(); }));
    // A byte each, so that the pipe takes a batch; what is written is read in the same batch's
    // turn.
    std::vector<double> reads;
    std::vector<double> writes;
    for (int batch = 0; batch < batches; ++batch) {
      writes.push_back(EachOf(kCalls, [&] {
        for (int i = 0; i < kCalls; ++i) (void)!write(pipe_[1], &byte, 1);
      }));
      reads.push_back(EachOf(kCalls, [&] {
        for (int i = 0; i < kCalls; ++i) (void)!read(pipe_[0], &byte, 1);
      }));
    }
    Print("write", Median(writes));
    Print("read", Median(reads));
    // dup() is timed alone too: closing needs something to close.
    const double pair = MedianOf(batches, [&] { close(dup(null)); });
    Print("dup_and_close", pair);
    pollfd poll_set = {.fd = listener_.get(), .events = POLLIN, .revents = 0};
    Print("poll", MedianOf(batches, [&] { poll(&poll_set, 1, 0); }));
    Watch(pipe_[0]);
    (void)!write(pipe_[1], &byte, 1);
    epoll_event events[8];
    Print("epoll_wait", MedianOf(batches, [&] { epoll_wait(loop_.get(), events, 8, -1); }));
    close(null);
  }

  void Report() {
    if (accept_ns_.empty()) Die("accepting a batch without waiting");
    Print("accept", Median(accept_ns_));
    Print("close_connection", Median(close_ns_));
    std::printf("\"batches\": %zu}\n", accept_ns_.size());
  }

 private:
  static void Print(const char* name, double ns) { std::printf("\"%s\": %.1f, ", name, ns); }

  void Watch(int descriptor) {
    epoll_event event = {.events = EPOLLIN, .data = {.fd = descriptor}};
    if (epoll_ctl(loop_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) Die("epoll_ctl");
  }

  UniqueFd Connect() {
    UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(client.get(), address_.get(), address_.length) != 0) Die("connect");
    // Reset at close: the port is free again at once.
    const linger hard = {.l_onoff = 1, .l_linger = 0};
    setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    return client;
  }

  void AwaitListener() {
    epoll_event event;
    if (epoll_wait(loop_.get(), &event, 1, kArrivalMs) != 1) Die("no connection came");
  }

  void AcceptAll(std::vector<int>* accepted, int* misses) {
    accepted->reserve(kConnections);
    while (static_cast<int>(accepted->size()) < kConnections) {
      const int connection = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (connection >= 0) {
        accepted->push_back(connection);
      } else if (errno == EAGAIN) {
        ++*misses;
        AwaitListener();
      } else {
        Die("accept4");
      }
    }
  }

  SocketAddress address_;
  UniqueFd listener_;
  UniqueFd loop_;
  int pipe_[2];
  std::vector<double> accept_ns_;
  std::vector<double> close_ns_;
};

int Run(int batches) {
  Program program;
  program.WarmUp();
  std::printf("{");
  for (int tries = 0; program.batches() < batches && tries < kMostTries * batches; ++tries)
    program.MeasureConnections();
  program.MeasureCalls(batches);
  program.Report();
  return 0;
}

}  // namespace
}  // namespace ringdeal::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: shim BATCHES\n");
    return 2;
  }
  return ringdeal::bench::Run(std::atoi(argv[1]));
}
