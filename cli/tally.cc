#include "cli/tally.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "cli/ownership.h"
#include "cli/processes.h"

namespace ringdeal {
namespace {

unsigned Load(const std::pair<const pid_t, unsigned>& worker) { return worker.second; }

// True if the connection is counted by what its holders say.
bool CountByHolders(const std::vector<pid_t>& holders, Tally* tally) {
  const std::vector<pid_t> workers = WorkersAmong(holders);
  if (workers.empty()) return false;
  if (workers.size() > 1) {
    ++tally->shared;
  } else {
    ++tally->workers[workers.front()];
  }
  return true;
}

std::vector<pid_t> HoldersOf(const Holders& holders, SocketId socket) {
  const auto found = holders.of.find(socket);
  return found == holders.of.end() ? std::vector<pid_t>() : found->second;
}

}  // namespace

bool Tally::whole() const {
  unsigned sum = 0;
  for (const auto& worker : workers) sum += worker.second;
  return sum == connections;
}

unsigned Tally::max() const {
  return workers.empty() ? 0 : Load(*std::ranges::max_element(workers, {}, Load));
}

unsigned Tally::min() const {
  return workers.empty() ? 0 : Load(*std::ranges::min_element(workers, {}, Load));
}

void Count(const std::vector<ProbedConnection>& connections, Question question, Tally* tally) {
  std::unordered_set<SocketId> wanted;
  for (const ProbedConnection& connection : connections) {
    const bool named = question == Question::kName && connection.answered;
    if (connection.server_end != 0 && !named) wanted.insert(connection.server_end);
  }
  const Holders holders = wanted.empty() ? Holders() : FindHolders(wanted);

  for (const ProbedConnection& connection : connections) {
    ++tally->connections;
    if (connection.error != 0) {
      ++tally->failed[connection.error];
    } else if (question == Question::kName && connection.answered) {
      const std::optional<pid_t> named = connection.answer.NamedProcess();
      if (named) ++tally->workers[*named];
      if (!named) ++tally->unknown;
    } else if (!CountByHolders(HoldersOf(holders, connection.server_end), tally)) {
      // A connection that was answered or closed has been accepted, whatever is seen of it now.
      const bool accepted = connection.answered || connection.closed;
      ++(accepted || !holders.complete ? tally->unknown : tally->unaccepted);
    }
  }
}

std::vector<pid_t> WorkersThatListen(SocketOwner* owner, const SocketAddress& served) {
  const std::vector<SocketId> listeners = owner->ListenersOf(served);
  const Holders holders = FindHolders({listeners.begin(), listeners.end()});
  std::vector<pid_t> all;
  for (const auto& [listener, pids] : holders.of) {
    for (const pid_t pid : pids) {
      if (std::ranges::find(all, pid) == all.end()) all.push_back(pid);
    }
  }
  return WorkersAmong(all);
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children = AllProcesses();
  std::erase_if(children, [parent](pid_t pid) { return ParentOf(pid) != parent; });
  return children;
}

}  // namespace ringdeal
