// What nearness is worth: the time of a request and its answer on a kept connection when the worker
// sits near the CPU that receives, and when it sits far. What goes over loopback is received on the
// CPU of who sends it, so that is the client's. Prints nanoseconds of alternating rounds as JSON;
// scripts/bench chooses the CPUs and makes ratios of them. Linux only.
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "bench/processes.h"

namespace ringdeal::bench {
namespace {

constexpr size_t kRequestBytes = 512;
constexpr size_t kAnswerBytes = 4096;

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

bool Receive(int connection, char* bytes, size_t size) {
  return recv(connection, bytes, size, MSG_WAITALL) == static_cast<ssize_t>(size);
}

bool Send(int connection, const char* bytes, size_t size) {
  return send(connection, bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

// Reads every byte of a request, as a parser does, and writes every byte of the answer.
int Serve(int connection) {
  char request[kRequestBytes];
  char answer[kAnswerBytes];
  while (Receive(connection, request, sizeof(request))) {
    char sum = 0;
    for (const char byte : request) sum = static_cast<char>(sum + byte);
    for (char& byte : answer) byte = sum++;
    if (!Send(connection, answer, sizeof(answer))) break;
  }
  return 0;
}

struct Worker {
  UniqueFd client;
  UniqueFd served;  // the worker's end, to ask the kernel about it
  pid_t pid = 0;
};

Worker StartWorker(int cpu) {
  SocketAddress address;
  const UniqueFd listener = ListenOnLoopback(&address);
  Worker worker;
  worker.client.Reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience = {.tv_sec = 10, .tv_usec = 0};
  setsockopt(worker.client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (connect(worker.client.get(), address.get(), address.length) != 0) Die("connect");
  worker.served.Reset(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!worker.served) Die("accept");
  worker.pid = Spawn(cpu, [&] {
    worker.client.Reset();  // else the connection would never end
    return Serve(worker.served.get());
  });
  return worker;
}

void End(Worker worker) {
  shutdown(worker.client.get(), SHUT_RDWR);
  waitpid(worker.pid, nullptr, 0);
}

double NsOfRequest(const Worker& worker, int requests) {
  char request[kRequestBytes] = {};
  char answer[kAnswerBytes];
  const uint64_t begin = NowNs();
  for (int i = 0; i < requests; ++i) {
    request[0] = static_cast<char>(i);
    if (!Send(worker.client.get(), request, sizeof(request))) Die("a request");
    if (!Receive(worker.client.get(), answer, sizeof(answer))) Die("an answer");
  }
  return static_cast<double>(NowNs() - begin) / requests;
}

void CheckReceivedOn(int cpu, const Worker& worker) {
  int received_on = -1;
  socklen_t length = sizeof(received_on);
  getsockopt(worker.served.get(), SOL_SOCKET, SO_INCOMING_CPU, &received_on, &length);
  if (received_on == cpu) return;
  std::fprintf(stderr, "locality: loopback is received on CPU %d, not on the client's\n",
               received_on);
  std::exit(1);
}

void Print(const char* name, const std::vector<double>& rounds) {
  std::printf("\"%s\": [", name);
  for (size_t i = 0; i < rounds.size(); ++i) std::printf("%s%.1f", i > 0 ? ", " : "", rounds[i]);
  std::printf("]");
}

int Run(int receiving, int near_cpu, int far_cpu, int rounds, int requests) {
  for (const int cpu : {near_cpu, far_cpu, receiving}) {  // the last is where it stays
    if (!MoveToCpu(cpu)) Die("a CPU that was named");
  }
  Worker near_worker = StartWorker(near_cpu);
  Worker far_worker = StartWorker(far_cpu);
  for (const Worker* worker : {&near_worker, &far_worker}) {
    NsOfRequest(*worker, requests / 4 + 1);
    CheckReceivedOn(receiving, *worker);
  }
  std::vector<double> near_ns;
  std::vector<double> far_ns;
  for (int round = 0; round < rounds; ++round) {
    near_ns.push_back(NsOfRequest(near_worker, requests));
    far_ns.push_back(NsOfRequest(far_worker, requests));
  }
  End(std::move(near_worker));
  End(std::move(far_worker));
  std::printf("{");
  Print("near", near_ns);
  std::printf(", ");
  Print("far", far_ns);
  std::printf("}\n");
  return 0;
}

}  // namespace
}  // namespace ringdeal::bench

int main(int argc, char** argv) {
  if (argc != 6 || std::atoi(argv[4]) < 2 || std::atoi(argv[5]) < 1) {
    std::fprintf(stderr,
                 "Usage: locality RECEIVING-CPU NEAR-CPU FAR-CPU ROUNDS REQUESTS-A-ROUND\n");
    return 2;
  }
  return ringdeal::bench::Run(std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]),
                              std::atoi(argv[4]), std::atoi(argv[5]));
}
