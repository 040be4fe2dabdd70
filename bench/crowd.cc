// Many workers or many open connections in few processes. "crowd workers CONTROL LISTENER COUNT"
// joins as so many workers; "crowd clients ADDRESS SOURCE" does what stdin says, "hold N" or "visit
// N", and answers "done" to each. A worker closes what it takes, except what comes from
// 127.9.0.0/16. Linux only.
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/processes.h"
#include "bench/worker.h"

namespace ringdeal::bench {
namespace {

void RaiseDescriptorLimit() {
  rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

bool IsToBeHeld(const HandoffFrame& frame) {
  sockaddr_in peer;
  if (frame.peer_length < sizeof(peer)) return false;
  std::memcpy(&peer, frame.peer, sizeof(peer));
  return ntohl(peer.sin_addr.s_addr) >> 16 == (127u << 8 | 9);
}

void BeginToServe(const Membership& member) {
  Page* page = member.page.get();
  page->progress.style.store(AcceptStyle::kEvents, std::memory_order_relaxed);
  page->progress.state.store(WorkerState::kWorker, std::memory_order_seq_cst);
  EnterWait(page, member.control.get());
}

// A pass of this worker alone: the others of the process stay in their wait.
bool ServeOnce(const Membership& member) {
  Page* page = member.page.get();
  LeaveWait(page);
  const bool goes_on = TakeAll(member.channel.get(), page, IsToBeHeld);
  EnterWait(page, member.control.get());
  return goes_on;
}

int RunWorkers(const char* control, const char* listener, int count) {
  const UniqueFd poller(epoll_create1(EPOLL_CLOEXEC));
  std::vector<Membership> members;
  for (int i = 0; i < count; ++i) {
    auto member = Join(control, listener);
    if (!member) return 1;
    BeginToServe(*member);
    members.push_back(std::move(*member));
    epoll_event interest = {.events = EPOLLIN, .data = {.u64 = members.size() - 1}};
    epoll_ctl(poller.get(), EPOLL_CTL_ADD, members.back().channel.get(), &interest);
  }
  std::puts("done");
  std::fflush(stdout);
  while (true) {
    epoll_event events[64];
    const int ready = epoll_wait(poller.get(), events, 64, -1);
    for (int i = 0; i < ready; ++i) {
      if (!ServeOnce(members[events[i].data.u64])) return 0;
    }
  }
}

class Clients {
 public:
  Clients(const SocketAddress& server, const char* source) : server_(server) {
    source_.sin_family = AF_INET;
    inet_pton(AF_INET, source, &source_.sin_addr);
  }

  void Hold(int count) {
    for (int i = 0; i < count; ++i) held_.push_back(Connect());
  }

  // One after the other, each until a worker has closed it.
  void Visit(int count) const {
    for (int i = 0; i < count; ++i) {
      const UniqueFd connection = Connect();
      char byte;
      if (recv(connection.get(), &byte, 1, 0) != 0) Die("a connection did not end as it should");
    }
  }

 private:
  UniqueFd Connect() const {
    UniqueFd connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int late = 1;
    setsockopt(connection.get(), SOL_IP, IP_BIND_ADDRESS_NO_PORT, &late, sizeof(late));
    if (bind(connection.get(), reinterpret_cast<const sockaddr*>(&source_), sizeof(source_)) != 0)
      Die("bind");
    if (connect(connection.get(), server_.get(), server_.length) != 0) Die("connect");
    return connection;
  }

  const SocketAddress server_;
  sockaddr_in source_ = {};
  std::vector<UniqueFd> held_;
};

int RunClients(const char* address, const char* source) {
  SocketAddress server;
  if (!ParseAddress(address, &server)) return 2;
  Clients clients(server, source);
  char order[16];
  int count;
  while (std::scanf("%15s %d", order, &count) == 2) {
    if (std::strcmp(order, "hold") == 0) {
      clients.Hold(count);
    } else {
      clients.Visit(count);
    }
    std::puts("done");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace ringdeal::bench

int main(int argc, char** argv) {
  ringdeal::bench::RaiseDescriptorLimit();
  if (argc == 5 && std::strcmp(argv[1], "workers") == 0)
    return ringdeal::bench::RunWorkers(argv[2], argv[3], std::atoi(argv[4]));
  if (argc == 4 && std::strcmp(argv[1], "clients") == 0)
    return ringdeal::bench::RunClients(argv[2], argv[3]);
  std::fprintf(stderr,
               "Usage: crowd workers CONTROL LISTENER COUNT | crowd clients ADDRESS SOURCE\n");
  return 2;
}
