#include "daemon/observing/agents.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "daemon/accepting/accept_socket.h"
#include "daemon/accepting/listening_socket.h"
#include "daemon/operating/log.h"

namespace ringdeal {
namespace {

constexpr int kBacklog = 64;
// Answered in one turn of the loop, which others wait for.
constexpr int kMostInATurn = 16;

// The answer fits into any socket's buffer. What the client sent is read first: unread, it would
// turn the close into a reset, which can overtake the answer.
void Tell(int client, const std::string& line) {
  char ignored[256];
  (void)recv(client, ignored, sizeof(ignored), MSG_DONTWAIT);
  (void)send(client, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  (void)shutdown(client, SHUT_WR);
}

}  // namespace

struct Agents::Agent {
  Socket socket;
  std::unique_ptr<EventLoop::Watch> watch;
};

Agents::Agents(EventLoop* loop, std::function<std::string(const std::string&)> answer)
    : loop_(loop), answer_(std::move(answer)) {}

Agents::~Agents() = default;

bool Agents::Has(const std::string& listener, const std::string& address) const {
  return std::any_of(agents_.begin(), agents_.end(), [&](const auto& each) {
    return each->socket.listener == listener && each->socket.address == address;
  });
}

Result<std::vector<Agents::Socket>, std::string> Agents::Open(const Config& config) const {
  std::vector<Socket> opened;
  for (const ListenerConfig& listener : config.listeners) {
    if (listener.agent.empty() || Has(listener.name, listener.agent)) continue;
    ListenerConfig wanted;
    wanted.bind = listener.agent;
    wanted.backlog = kBacklog;
    auto socket = OpenListeningSocket(wanted);
    if (!socket) return "agent of " + listener.name + ": " + socket.error().text;
    opened.push_back({listener.name, listener.agent, std::move(*socket)});
  }
  return opened;
}

void Agents::Use(const Config& config, std::vector<Socket> opened) {
  std::erase_if(agents_, [&](const auto& each) {
    return std::none_of(config.listeners.begin(), config.listeners.end(), [&](const auto& named) {
      return named.name == each->socket.listener && named.agent == each->socket.address;
    });
  });
  for (Socket& socket : opened) {
    Log(LogLevel::kInfo, "agent",
        {{"listener", socket.listener}, {"address", LocalAddressText(socket.descriptor.get())}});
    Agent& agent = *agents_.emplace_back(std::make_unique<Agent>());
    agent.socket = std::move(socket);
    agent.watch = loop_->WatchReadable(agent.socket.descriptor.get(),
                                       [this, place = &agent] { AnswerAll(*place); });
  }
}

void Agents::AnswerAll(const Agent& agent) const {
  for (int i = 0; i < kMostInATurn; ++i) {
    sockaddr_storage peer;
    socklen_t length = sizeof(peer);
    const UniqueFd client = AcceptSocket(
        agent.socket.descriptor.get(), reinterpret_cast<sockaddr*>(&peer), &length, Blocking::kYes);
    if (!client) return;
    Tell(client.get(), answer_(agent.socket.listener));
  }
}

}  // namespace ringdeal
