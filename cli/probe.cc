#include "cli/probe.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "protocol/descriptor_passing.h"

namespace ringdeal {
namespace {

using State = ProbedConnection::State;
using std::chrono::milliseconds;

// How often the kernel is asked again where it tells nothing by itself: whether a silent connection
// was accepted, whether a full UNIX socket has room again.
constexpr milliseconds kRetry{5};

UniqueFd NonBlockingSocket(int family) {
  UniqueFd socket(::socket(family, SOCK_STREAM, 0));
  if (!socket) return socket;
  fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  return socket;
}

}  // namespace

Probe::Probe(const ProbePlan& plan, SocketOwner* owner)
    : plan_(plan), owner_(owner), connections_(plan.connections) {
  Time due = std::chrono::steady_clock::now();
  for (ProbedConnection& connection : connections_) {
    connection.due = due;
    due += plan.interval;
  }
}

void Probe::Run() {
  for (;;) {
    const Time now = std::chrono::steady_clock::now();
    StepByTime(now);
    while (first_open_ < connections_.size() && connections_[first_open_].state == State::kDone) {
      ++first_open_;
    }
    if (first_open_ == connections_.size()) return;
    WaitForEvents(now);
  }
}

void Probe::Start(ProbedConnection* connection) {
  if (!connection->socket) connection->socket = NonBlockingSocket(plan_.address.family());
  if (connection->socket &&
      connect(connection->socket.get(), plan_.address.get(), plan_.address.length) == 0) {
    Connected(connection);
  } else if (errno == EINPROGRESS) {
    connection->state = State::kConnecting;
  } else if (errno != EAGAIN) {  // EAGAIN: the accept queue of a UNIX socket is full
    connection->error = errno;
    connection->state = State::kDone;
  }
}

void Probe::Connected(ProbedConnection* connection) {
  int error = 0;
  socklen_t length = sizeof(error);
  getsockopt(connection->socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error == 0 && !plan_.request.empty()) {
    const Result<size_t> sent = SendWithDescriptors(
        connection->socket.get(), {}, BytesOf(*plan_.request.data(), plan_.request.size()), {}, 0);
    // A reset that came meanwhile is seen at the next receive.
    const int refused = sent ? 0 : sent.error().number;
    if (refused != EPIPE && refused != ECONNRESET) error = refused;
  }
  connection->error = error;
  connection->state = error == 0 ? State::kWaiting : State::kDone;
  if (error != 0 || served_) return;
  SocketAddress peer;
  peer.length = sizeof(peer.storage);
  if (getpeername(connection->socket.get(), peer.get(), &peer.length) == 0) served_ = peer;
}

void Probe::LookUp(ProbedConnection* connection) {
  const Result<SocketId> found = owner_->ServerEndOf(connection->socket.get());
  if (found) connection->server_end = *found;
  if (!found) connection->closed = true;
}

void Probe::Receive(ProbedConnection* connection) {
  char buffer[16 * 1024];
  const ssize_t bytes = recv(connection->socket.get(), buffer, sizeof(buffer), 0);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (bytes <= 0) {
    connection->closed = true;
    connection->answer.End();
    connection->state = State::kDone;
    return;
  }
  // At once: the server may close it after the answer.
  if (!connection->answered) LookUp(connection);
  connection->answered = true;
  connection->answer.Add({buffer, static_cast<size_t>(bytes)});
  if (plan_.question == Question::kAnswer || connection->answer.whole()) {
    connection->state = State::kDone;
  }
}

// What is not answered may have been accepted all the same, by a worker that is busy.
void Probe::GiveUp(ProbedConnection* connection) {
  if (connection->state == State::kWaiting) LookUp(connection);
  if (connection->state == State::kConnecting) connection->error = ETIMEDOUT;
  if (connection->state == State::kDue) connection->error = EAGAIN;
  connection->state = State::kDone;
}

void Probe::StepByTime(Time now) {
  for (size_t i = first_open_; i < connections_.size(); ++i) {
    ProbedConnection* connection = &connections_[i];
    if (connection->state == State::kDone) continue;
    if (now < connection->due) return;
    if (connection->state == State::kDue) Start(connection);
    if (connection->state == State::kWaiting && plan_.question == Question::kNone) {
      LookUp(connection);
      const bool known = connection->closed || connection->server_end != 0;
      if (known) connection->state = State::kDone;
    }
    const bool late = now >= connection->due + plan_.timeout;
    if (late && connection->state != State::kDone) GiveUp(connection);
  }
}

int Probe::MillisecondsToNextStep(Time now) const {
  Time next = now + std::chrono::hours(1);
  for (size_t i = first_open_; i < connections_.size(); ++i) {
    const ProbedConnection& connection = connections_[i];
    if (connection.state == State::kDone) continue;
    if (now < connection.due) {
      next = std::min(next, connection.due);
      break;  // and so are all that follow
    }
    const bool retries = connection.state == State::kDue || plan_.question == Question::kNone;
    next = std::min(next, retries ? now + kRetry : connection.due + plan_.timeout);
  }
  const auto wait = std::chrono::ceil<milliseconds>(next - now).count();
  return static_cast<int>(std::max<decltype(wait)>(wait, 0));
}

void Probe::WaitForEvents(Time now) {
  std::vector<pollfd> watched;
  std::vector<ProbedConnection*> connections;
  for (size_t i = first_open_; i < connections_.size(); ++i) {
    ProbedConnection* connection = &connections_[i];
    const bool connecting = connection->state == State::kConnecting;
    const bool receiving =
        connection->state == State::kWaiting && plan_.question != Question::kNone;
    if (!connecting && !receiving) continue;
    const auto events = static_cast<short>(connecting ? POLLOUT : POLLIN);
    watched.push_back({connection->socket.get(), events, 0});
    connections.push_back(connection);
  }
  poll(watched.data(), static_cast<nfds_t>(watched.size()), MillisecondsToNextStep(now));
  for (size_t i = 0; i < watched.size(); ++i) {
    if (watched[i].revents == 0) continue;
    if (connections[i]->state == State::kConnecting) {
      Connected(connections[i]);
    } else {
      Receive(connections[i]);
    }
  }
}

}  // namespace ringdeal
