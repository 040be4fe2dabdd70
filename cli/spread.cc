#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/probe.h"
#include "cli/spread_report.h"
#include "cli/tally.h"

namespace ringdeal {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRampInterval{10};
constexpr milliseconds kLookAgain{20};
constexpr rlim_t kOtherDescriptors = 32;

int Fail(int exit_code, const std::string& what) {
  std::fprintf(stderr, "ringdeal spread: %s\n", what.c_str());
  return exit_code;
}

std::string Request(const SpreadOptions& options, const SocketAddress& address) {
  if (options.silent) return {};
  const std::string host = address.family() == AF_UNIX ? "localhost" : options.address;
  return "GET " + (options.path.empty() ? "/" : options.path) + " HTTP/1.1\r\nHost: " + host +
         "\r\nUser-Agent: ringdeal-spread\r\n\r\n";
}

ProbePlan MakePlan(const SpreadOptions& options, const SocketAddress& address) {
  ProbePlan plan;
  plan.address = address;
  plan.request = Request(options, address);
  if (options.silent) plan.question = Question::kNone;
  if (!options.path.empty()) plan.question = Question::kName;
  plan.connections = options.shape == SpreadShape::kOneByOne ? 1 : options.connections;
  if (options.shape == SpreadShape::kRamp) plan.interval = kRampInterval;
  plan.timeout = options.timeout;
  return plan;
}

bool HaveDescriptorsFor(unsigned connections) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return true;
  const rlim_t wanted = connections + kOtherDescriptors;
  if (limit.rlim_cur >= wanted) return true;
  limit.rlim_cur = wanted;
  return wanted <= limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// Runs one probe and adds what it found. A connection that waits for its worker in a channel is out
// of the accept queue already: where nothing is sent, only looking again shows who takes it.
std::optional<SocketAddress> ProbeOnce(const ProbePlan& plan, SocketOwner* owner, Tally* tally) {
  const auto deadline = std::chrono::steady_clock::now() + plan.timeout;
  Probe probe(plan, owner);
  probe.Run();
  for (;;) {
    Tally counted = *tally;
    Count(probe.connections(), plan.question, &counted);
    const bool look_again = plan.question == Question::kNone &&
                            counted.unaccepted > tally->unaccepted &&
                            std::chrono::steady_clock::now() < deadline;
    if (!look_again) {
      *tally = counted;
      return probe.served();
    }
    std::this_thread::sleep_for(kLookAgain);
  }
}

// Workers without a connection belong to the spread: a list of the busy ones alone would call 32:0
// even. Where the server itself named the processes, its numbers may be those of another pid
// namespace, and are mixed with ours only if they are seen to be the same.
void AddIdleWorkers(const SpreadOptions& options, SocketOwner* owner, const SocketAddress& served,
                    Tally* tally) {
  const std::vector<pid_t> workers = options.workers_of
                                         ? ChildrenOf(static_cast<pid_t>(*options.workers_of))
                                         : WorkersThatListen(owner, served);
  const bool same_numbers = std::ranges::all_of(tally->workers, [&](const auto& worker) {
    return std::ranges::find(workers, worker.first) != workers.end();
  });
  if (!options.path.empty() && !options.workers_of && !same_numbers) return;
  for (const pid_t pid : workers) tally->workers.try_emplace(pid, 0);
}

void Explain(const Tally& tally, const SpreadOptions& options) {
  if (tally.unknown == 0) return;
  const char* advice =
      options.path.empty()
          ? "the server may close after each answer (try --silent), run for another user (run this "
            "as root), or be in another network namespace (run this there, or use --path)"
          : "the body of the answer must be the process number and nothing else";
  std::fprintf(stderr, "ringdeal spread: %u connections could not be placed: %s\n", tally.unknown,
               advice);
}

}  // namespace

int ShowSpread(const SpreadOptions& options) {
  SocketAddress address;
  if (!ParseAddress(options.address.c_str(), &address)) {
    return Fail(kExitUsage, options.address + " is no address like 127.0.0.1:8080, [::1]:8080 or " +
                                "unix:/path (names are not looked up)");
  }
  const ProbePlan plan = MakePlan(options, address);
  if (!HaveDescriptorsFor(plan.connections)) {
    return Fail(kExitSystem, "the descriptor limit is too low for " +
                                 std::to_string(plan.connections) + " connections");
  }
  Result<SocketOwner> owner = SocketOwner::Open();
  if (!owner) {
    return Fail(kExitSystem, std::string("cannot ask the kernel for sockets: ") +
                                 std::strerror(owner.error().number));
  }

  Tally tally;
  std::optional<SocketAddress> served;
  while (tally.connections < options.connections) {
    const std::optional<SocketAddress> seen = ProbeOnce(plan, &*owner, &tally);
    if (seen) served = seen;
    if (!served) break;  // nobody is there
  }
  if (served) {
    AddIdleWorkers(options, &*owner, *served, &tally);
  } else if (!tally.failed.empty()) {
    return Fail(kExitSystem, "cannot connect to " + options.address + ": " +
                                 std::strerror(tally.failed.begin()->first));
  }
  std::fputs((options.json ? SpreadAsJson(tally) : SpreadAsText(tally)).c_str(), stdout);
  Explain(tally, options);
  return tally.whole() ? kExitOk : kExitIncomplete;
}

}  // namespace ringdeal
