// What a spread found: how many connections each worker holds. Main thread.
#pragma once

#include <sys/types.h>

#include <map>
#include <vector>

#include "cli/probe.h"

namespace ringdeal {

struct Tally {
  unsigned connections = 0;  // all, and the sum of all that follow
  std::map<pid_t, unsigned> workers;
  unsigned shared = 0;      // held by several processes of which none is the other's ancestor
  unsigned unaccepted = 0;  // held by no worker: in the accept queue, or on the way to one
  unsigned unknown = 0;     // closed by the server, or its end is not to be seen from here
  std::map<int, unsigned> failed;  // by errno: the connection could not be made

  // True if every connection has one known worker.
  bool whole() const;
  // The most and the fewest connections of a worker; 0 if there is no worker.
  unsigned max() const;
  unsigned min() const;
};

// Adds the connections of a probe that has run.
void Count(const std::vector<ProbedConnection>& connections, Question question, Tally* tally);

// The workers among the processes that hold a listening socket, for those that have no connection.
std::vector<pid_t> WorkersThatListen(SocketOwner* owner, const SocketAddress& served);

std::vector<pid_t> ChildrenOf(pid_t parent);

}  // namespace ringdeal
