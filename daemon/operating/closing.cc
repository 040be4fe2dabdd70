#include "daemon/operating/closing.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "daemon/accepting/accept_socket.h"
#include "daemon/accepting/closing_socket.h"
#include "daemon/accepting/listening_socket.h"
#include "daemon/operating/log.h"
#include "daemon/operating/monotonic_clock.h"
#include "daemon/operating/service_manager.h"

namespace ringdeal {
namespace {

constexpr std::chrono::milliseconds kTick(10);

bool IsOursToClose(const Listener& listener) { return listener.owned() && !listener.lent(); }

// Calls `each` with every socket of every listener that is ours to close, and the listener.
template <typename Each>
void ForEachOfOurs(const ListenerTable& listeners, Each each) {
  for (const auto& listener : listeners.all()) {
    if (!IsOursToClose(*listener)) continue;
    for (const Listener::Socket& socket : listener->sockets()) {
      each(listener, socket.descriptor.get());
    }
  }
}

// What a UNIX socket still has.
void KeepWaiting(Listener* listener, int socket) {
  while (true) {
    Connection connection;
    connection.peer_length = sizeof(connection.peer);
    connection.socket = AcceptSocket(socket, reinterpret_cast<sockaddr*>(&connection.peer),
                                     &connection.peer_length);
    if (!connection.socket) return;
    connection.peer_length = std::min<socklen_t>(connection.peer_length, sizeof(connection.peer));
    listener->dealer().Keep(std::move(connection));
  }
}

}  // namespace

Closing::Closing(EventLoop* loop, ListenerTable* listeners)
    : listeners_(listeners), timer_(loop->MakeTimer([this] { Look(); })) {}

void Closing::Begin(uint64_t deadline_ns, std::function<void()> done) {
  done_ = std::move(done);
  deadline_ns_ = deadline_ns;
  waited_ns_ = MonotonicNs();
  ForEachOfOurs(*listeners_, [](const auto&, int socket) { TurnNewClientsAway(socket); });
  Look();
}

void Closing::Look() {
  const uint64_t now_ns = MonotonicNs();
  ForEachOfOurs(*listeners_, [this, now_ns](const auto&, int socket) {
    if (HasWaiting(socket)) waited_ns_ = now_ns;
  });
  constexpr auto kQuietNs = std::chrono::nanoseconds(kQuiet).count();
  const bool is_quiet = now_ns - waited_ns_ >= static_cast<uint64_t>(kQuietNs);
  if (is_quiet || now_ns >= deadline_ns_) return done_();
  timer_->Arm(kTick);
}

void Closing::ShutDownAll() {
  ForEachOfOurs(*listeners_, [this](const auto& listener, int socket) {
    const bool is_dropped = HasWaiting(socket) && !IsPath(listener->address());
    ShutDown(socket);
    KeepWaiting(listener.get(), socket);
    if (is_dropped) {
      Log(LogLevel::kError, "connections_dropped",
          {{"listener", listener->name()},
           {"reason", "no worker could be given what waited within drain_timeout"}});
    }
    listeners_->Wake(listener);
  });
  for (const auto& listener : listeners_->all()) {
    if (!IsOursToClose(*listener)) continue;
    ForgetStoredListener(listener->name());
    if (IsPath(listener->address())) {
      (void)unlink(listener->address().c_str() + std::strlen("unix:"));
    }
    Log(LogLevel::kInfo, "closed", {{"listener", listener->name()}});
  }
}

}  // namespace ringdeal
