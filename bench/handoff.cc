// What a handoff costs: ringdeald's CPU time for each connection beside that of the floor, under
// the same arrivals, in alternating rounds of one run. Linux only.
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "bench/floor.h"
#include "bench/processes.h"
#include "bench/worker.h"
#include "protocol/socket_address.h"

namespace ringdeal::bench {
namespace {

constexpr int kWorkers = 2;
constexpr int kBurst = 32;

// With two CPUs or more the acceptors have the first to themselves: otherwise the scheduler's
// choice of a CPU for each wake-up is most of what is measured. With one, all share it.
constexpr int kAcceptorCpu = 0;
constexpr int kOtherCpu = 1;

// An acceptor with its workers: ringdeald, or the floor.
struct Server {
  SocketAddress address;
  pid_t acceptor = 0;
  std::vector<pid_t> workers;
};

void End(const Server& server) {
  kill(server.acceptor, SIGTERM);
  waitpid(server.acceptor, nullptr, 0);
  for (const pid_t worker : server.workers) {
    kill(worker, SIGTERM);
    waitpid(worker, nullptr, 0);
  }
}

Server StartFloor() {
  Server server;
  const UniqueFd listener = ListenOnLoopback(&server.address);
  std::vector<UniqueFd> senders;
  for (int i = 0; i < kWorkers; ++i) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) Die("socketpair");
    senders.emplace_back(ends[0]);
    const UniqueFd receiver(ends[1]);
    server.workers.push_back(Spawn(kOtherCpu, [&] {
      senders.clear();  // else the channel would never end
      auto memory = CreatePageMemory();
      auto page = MapNewPage(memory->get());
      ServeChannel(receiver.get(), page->get(), -1);
      return 0;
    }));
  }
  server.acceptor = Spawn(kAcceptorCpu, [&] {
    std::vector<int> channels;
    for (const UniqueFd& sender : senders) channels.push_back(sender.get());
    RunFloorAcceptor(listener.get(), channels);
    return 1;
  });
  return server;
}

// True once the acceptor's control socket answers.
bool AwaitControl(const std::string& control, pid_t pid) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (ConnectControl(control.c_str())) return true;
    if (waitpid(pid, nullptr, WNOHANG) == pid) return false;
    usleep(5'000);
  }
  return false;
}

Server StartRingdeal(const char* program, const std::string& directory) {
  Server server;
  ListenOnLoopback(&server.address);  // a free port: closed again at once
  char address[kMaxAddressText];
  FormatAddress(server.address, address, sizeof(address));
  const std::string control = directory + "/control.sock";
  const std::string config = directory + "/ringdeal.yaml";
  std::ofstream(config) << "control: {path: " << control << "}\n"
                        << "http: {bind: \"\"}\n"
                        << "log: {level: warn}\n"
                        << "listeners: [{name: bench, bind: \"" << address << "\"}]\n";
  server.acceptor = Spawn(kAcceptorCpu, [&] {
    execl(program, program, "--config", config.c_str(), nullptr);
    Die(program);
    return 1;
  });
  if (!AwaitControl(control, server.acceptor)) {
    std::fprintf(stderr, "handoff: %s did not start\n", program);
    std::exit(1);
  }
  for (int i = 0; i < kWorkers; ++i) {
    server.workers.push_back(
        Spawn(kOtherCpu, [&] { return RunRingdealWorker(control.c_str(), "bench"); }));
  }
  return server;
}

uint64_t CpuNsOf(pid_t pid) {
  clockid_t clock;
  timespec used;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) Die("CPU clock");
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + used.tv_nsec;
}

// Opens `size` connections and waits until each was taken and closed.
void Arrive(const Server& server, int size) {
  UniqueFd connections[kBurst];
  for (int i = 0; i < size; ++i) {
    connections[i].Reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(connections[i].get(), server.address.get(), server.address.length) != 0)
      Die("connect");
  }
  for (int i = 0; i < size; ++i) {
    char byte;
    if (recv(connections[i].get(), &byte, 1, 0) != 0) Die("a connection did not end as it should");
  }
}

// The acceptor's CPU nanoseconds for each connection of a round.
double MeasureRound(const Server& server, int connections, int at_once) {
  const int arrivals = connections / at_once;
  const uint64_t before = CpuNsOf(server.acceptor);
  for (int i = 0; i < arrivals; ++i) Arrive(server, at_once);
  return static_cast<double>(CpuNsOf(server.acceptor) - before) / (arrivals * at_once);
}

struct Figures {
  double median, min, max, quartile_range;
};

Figures FiguresOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t count = values.size();
  return {values[count / 2], values.front(), values.back(),
          values[count * 3 / 4] - values[count / 4]};
}

struct Comparison {
  const char* name;
  int at_once;
  Figures floor_ns, ringdeal_ns, ratio;

  // Half of the rounds must lie closer together than the effect is large.
  bool conclusive() const { return ratio.quartile_range < std::abs(ratio.median - 1); }
};

void Compare(const Server& floor, const Server& ringdeal, int rounds, int connections,
             Comparison* comparison) {
  std::vector<double> floor_ns, ringdeal_ns, ratio;
  for (const Server* server : {&floor, &ringdeal})  // warm up
    MeasureRound(*server, connections / 4, comparison->at_once);
  for (int round = 0; round < rounds; ++round) {
    floor_ns.push_back(MeasureRound(floor, connections, comparison->at_once));
    ringdeal_ns.push_back(MeasureRound(ringdeal, connections, comparison->at_once));
    ratio.push_back(ringdeal_ns.back() / floor_ns.back());
  }
  comparison->floor_ns = FiguresOf(floor_ns);
  comparison->ringdeal_ns = FiguresOf(ringdeal_ns);
  comparison->ratio = FiguresOf(ratio);
}

void Print(const Comparison& result) {
  std::printf(
      "%-12s floor %6.0f ns   ringdeald %6.0f ns   ratio %.2f (%.2f to %.2f)%s\n", result.name,
      result.floor_ns.median, result.ringdeal_ns.median, result.ratio.median, result.ratio.min,
      result.ratio.max,
      result.conclusive() ? "" : "   no conclusion: the rounds differ more than the two do");
}

void PrintJson(const Comparison& result, bool last) {
  std::printf(
      "\"%s\":{\"cpu_over_floor\":{\"median\":%.3f,\"min\":%.3f,\"max\":%.3f},"
      "\"floor_ns\":%.0f,\"ringdeald_ns\":%.0f,\"conclusive\":%s}%s",
      result.name, result.ratio.median, result.ratio.min, result.ratio.max, result.floor_ns.median,
      result.ringdeal_ns.median, result.conclusive() ? "true" : "false", last ? "}\n" : ",");
}

int Run(const char* program, int rounds, int connections, bool json) {
  char directory[] = "/tmp/ringdeal-handoff-XXXXXX";
  if (mkdtemp(directory) == nullptr) Die("a directory for the run");
  const Server floor = StartFloor();
  const Server ringdeal = StartRingdeal(program, directory);
  MoveToCpu(kOtherCpu);

  Comparison comparisons[] = {{"one_by_one", 1, {}, {}, {}}, {"bursts_of_32", kBurst, {}, {}, {}}};
  for (Comparison& comparison : comparisons) {
    Compare(floor, ringdeal, rounds, connections, &comparison);
    if (!json) Print(comparison);
  }
  if (json) {
    std::printf("{");
    for (const Comparison& comparison : comparisons)
      PrintJson(comparison, &comparison == std::end(comparisons) - 1);
  }
  End(ringdeal);
  End(floor);
  unlink((std::string(directory) + "/ringdeal.yaml").c_str());
  unlink((std::string(directory) + "/control.sock").c_str());
  rmdir(directory);
  return 0;
}

}  // namespace
}  // namespace ringdeal::bench

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "Usage: handoff RINGDEALD ROUNDS CONNECTIONS-A-ROUND [json]\n");
    return 2;
  }
  return ringdeal::bench::Run(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), argc > 4);
}
