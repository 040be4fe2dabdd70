// web_server ADDRESS WORKERS shared|reuseport [THREADS]: a small prefork server to be measured, one
// event loop a worker. It answers with its process number; "/spin/N" computes for N microseconds
// before, "/nap/N" sleeps, in one of the worker's THREADS if it has any. Linux only.
#include <signal.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "bench/processes.h"

namespace ringdeal::bench {
namespace {

struct Request {
  int connection;
  bool spins;
  long microseconds;
  bool closes;
};

// The requests that wait for a thread of this worker.
class Pool {
 public:
  void Start(int threads);
  void Put(const Request& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    some_.notify_one();
  }
  bool empty() const { return threads_ == 0; }

 private:
  Request Take() {
    std::unique_lock lock(mutex_);
    some_.wait(lock, [this] { return !requests_.empty(); });
    const Request request = requests_.front();
    requests_.pop_front();
    return request;
  }

  int threads_ = 0;
  std::mutex mutex_;
  std::condition_variable some_;
  std::deque<Request> requests_;
};

void Spin(long microseconds) {
  timespec begun;
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - begun.tv_sec) * 1'000'000 + (now.tv_nsec - begun.tv_nsec) / 1000 <
           microseconds);
}

void Answer(const Request& request) {
  if (request.spins) {
    Spin(request.microseconds);
  } else if (request.microseconds > 0) {
    usleep(static_cast<useconds_t>(request.microseconds));
  }
  char body[32];
  const int length = std::snprintf(body, sizeof(body), "%d\n", getpid());
  char answer[160];
  const int bytes =
      std::snprintf(answer, sizeof(answer), "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n%s",
                    length, request.closes ? "Connection: close\r\n" : "", body);
  (void)!send(request.connection, answer, static_cast<size_t>(bytes), MSG_NOSIGNAL);
  if (request.closes) close(request.connection);
}

void Pool::Start(int threads) {
  threads_ = threads;
  for (int i = 0; i < threads; ++i) {
    std::thread([this] {
      while (true) Answer(Take());
    }).detach();
  }
}

Request Parse(int connection, const char* text) {
  Request request = {connection, std::strncmp(text, "GET /spin/", 10) == 0, 0, false};
  if (request.spins) request.microseconds = std::atol(text + 10);
  if (std::strncmp(text, "GET /nap/", 9) == 0) request.microseconds = std::atol(text + 9);
  request.closes = strcasestr(text, "\r\nconnection: close") != nullptr;
  return request;
}

// Every request comes whole, and one at a time.
void Receive(int connection, Pool* pool) {
  char text[4096];
  const ssize_t bytes = recv(connection, text, sizeof(text) - 1, 0);
  if (bytes < 0 && errno == EAGAIN) return;
  if (bytes <= 0) {
    close(connection);
    return;
  }
  text[bytes] = '\0';
  const Request request = Parse(connection, text);
  if (pool->empty()) {
    Answer(request);
  } else {
    pool->Put(request);
  }
}

void AcceptAll(int listener, int poller) {
  while (true) {
    const int connection = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (connection < 0) return;
    epoll_event interest = {.events = EPOLLIN, .data = {.fd = connection}};
    epoll_ctl(poller, EPOLL_CTL_ADD, connection, &interest);
  }
}

int Serve(int listener, int threads) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  static Pool pool;
  pool.Start(threads);
  const int poller = epoll_create1(EPOLL_CLOEXEC);
  epoll_event interest = {.events = EPOLLIN, .data = {.fd = listener}};
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &interest);
  while (true) {
    epoll_event events[64];
    const int ready = epoll_wait(poller, events, 64, -1);
    for (int i = 0; i < ready; ++i) {
      if (events[i].data.fd == listener) {
        AcceptAll(listener, poller);
      } else {
        Receive(events[i].data.fd, &pool);
      }
    }
  }
}

int Listen(const SocketAddress& address, bool shares_port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, shares_port ? SO_REUSEPORT : SO_REUSEADDR, &on, sizeof(on));
  if (bind(listener, address.get(), address.length) != 0) Die("bind");
  if (listen(listener, 4096) != 0) Die("listen");
  return listener;
}

int Run(const char* address_text, int workers, bool shares_port, int threads) {
  SocketAddress address;
  if (!ParseAddress(address_text, &address)) return 2;
  const int shared = shares_port ? -1 : Listen(address, false);
  for (int i = 0; i < workers; ++i) {
    if (fork() == 0) return Serve(shares_port ? Listen(address, true) : shared, threads);
  }
  while (wait(nullptr) > 0 || errno == EINTR) continue;
  return 0;
}

}  // namespace
}  // namespace ringdeal::bench

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "Usage: web_server ADDRESS WORKERS shared|reuseport [THREADS]\n");
    return 2;
  }
  return ringdeal::bench::Run(argv[1], std::atoi(argv[2]), std::strcmp(argv[3], "reuseport") == 0,
                              argc > 4 ? std::atoi(argv[4]) : 0);
}
