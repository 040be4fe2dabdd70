// Opens connections to a server and finds out what each one meets. Never waits longer for a
// connection than the plan allows. Main thread.
#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/http_answer.h"
#include "cli/socket_owner.h"
#include "protocol/socket_address.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

enum class Question {
  kNone,    // send nothing; wait until the server's end is out of the accept queue
  kAnswer,  // an HTTP request; wait for the first byte of an answer, which proves the accept
  kName,    // an HTTP request; wait for the whole answer, whose body is a process number
};

struct ProbePlan {
  SocketAddress address;
  std::string request;  // empty with Question::kNone
  Question question = Question::kAnswer;
  unsigned connections = 1;
  std::chrono::milliseconds interval{0};    // between the starts of two connections
  std::chrono::milliseconds timeout{5000};  // of each connection, from its start
};

struct ProbedConnection {
  enum class State { kDue, kConnecting, kWaiting, kDone };
  using Time = std::chrono::steady_clock::time_point;

  UniqueFd socket;  // open as long as the object lives
  State state = State::kDue;
  Time due;
  int error = 0;          // the connection could not be made
  bool answered = false;  // at least one byte came
  bool closed = false;    // the server closed it before it was looked up
  SocketId server_end = 0;
  HttpAnswer answer;
};

class Probe {
 public:
  Probe(const ProbePlan& plan, SocketOwner* owner);

  // Returns when each connection is done or has timed out.
  void Run();

  const std::vector<ProbedConnection>& connections() const { return connections_; }

  // The server's address as the first connection saw it.
  const std::optional<SocketAddress>& served() const { return served_; }

 private:
  using Time = ProbedConnection::Time;

  void Start(ProbedConnection* connection);
  void Connected(ProbedConnection* connection);
  void Receive(ProbedConnection* connection);
  void LookUp(ProbedConnection* connection);
  void GiveUp(ProbedConnection* connection);
  void StepByTime(Time now);
  void WaitForEvents(Time now);
  int MillisecondsToNextStep(Time now) const;

  const ProbePlan& plan_;
  SocketOwner* owner_;
  std::vector<ProbedConnection> connections_;
  size_t first_open_ = 0;  // all before it are done
  std::optional<SocketAddress> served_;
};

}  // namespace ringdeal
