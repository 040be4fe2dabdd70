#include "daemon/workers/control_server.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "daemon/accepting/listening_socket.h"
#include "daemon/operating/log.h"
#include "daemon/workers/disposal.h"
#include "daemon/workers/peer_groups.h"
#include "daemon/workers/request.h"
#include "protocol/control_messages.h"
#include "protocol/descriptor_passing.h"
#include "protocol/peer_credentials.h"
#include "protocol/socket_pair.h"

namespace ringdeal {
namespace {

constexpr std::chrono::milliseconds kPauseAfterFailure(100);
constexpr int kControlBacklog = 1024;

Result<Peer> PeerOf(int socket) {
  const Result<PeerCredentials> credentials = PeerCredentialsOf(socket);
  if (!credentials) return credentials.error();
  return Peer{credentials->pid, credentials->uid, credentials->gid, PeerGroupsOf(socket)};
}

int SoftDescriptorLimit() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 30));
}

}  // namespace

struct ControlServer::Door {
  DoorId id;
  Peer opener;
  UniqueFd socket;
  std::unique_ptr<EventLoop::Watch> watch;
};

ControlServer::ControlServer(EventLoop* loop, const Limits& limits, Callbacks callbacks)
    : loop_(loop),
      limits_(limits),
      callbacks_(std::move(callbacks)),
      pause_(loop->MakeTimer([this] {
        for (const auto& watch : listener_watches_) watch->Enable();
      })) {}

ControlServer::~ControlServer() { StopListening(); }

Result<void, std::string> ControlServer::Listen(const ControlConfig& config) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(config.path).parent_path(), ignored);
  ListenerConfig socket_config;
  socket_config.name = "control";
  socket_config.bind = "unix:" + config.path;
  socket_config.mode = config.mode;
  socket_config.owner = config.owner;
  socket_config.group = config.group;
  socket_config.backlog = kControlBacklog;
  Result<UniqueFd, ListenError> socket = OpenListeningSocket(socket_config);
  if (!socket) return socket.error().text;
  path_ = config.path;
  AddListener(std::move(*socket));
#if defined(__linux__)
  socket_config.bind = "unix:@" + config.path;
  Result<UniqueFd, ListenError> abstract = OpenListeningSocket(socket_config);
  // Anybody may take an abstract name, and another ringdeald with the same path in a mount
  // namespace of its own has it: no reason not to start.
  if (!abstract) {
    Log(LogLevel::kWarn, "no_abstract_address", {{"reason", abstract.error().text}});
    return {};
  }
  AddListener(std::move(*abstract));
#endif
  return {};
}

bool ControlServer::AddListener(UniqueFd socket) {
  const int descriptor = socket.get();
  listeners_.push_back(std::move(socket));
  listener_watches_.push_back(
      loop_->WatchReadable(descriptor, [this, descriptor] { Accept(descriptor); }));
  return true;
}

void ControlServer::StopListening() {
  listener_watches_.clear();
  listeners_.clear();
  if (!path_.empty()) unlink(path_.c_str());
  path_.clear();
}

bool ControlServer::HasDescriptors() const {
  // The lowest free number tells how many are in use, at least.
  const UniqueFd probe(
      fcntl(listeners_.empty() ? 0 : listeners_.front().get(), F_DUPFD_CLOEXEC, 0));
  const int limit = SoftDescriptorLimit();
  return probe.valid() && probe.get() < limit - std::min(kReservedDescriptors, limit / 4);
}

void ControlServer::Accept(int listener) {
  UniqueFd socket(accept(listener, nullptr, nullptr));
  if (!socket) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    for (const auto& watch : listener_watches_) watch->Disable();
    pause_->Arm(kPauseAfterFailure);
    return;
  }
  AddConnection(std::move(socket), nullptr);
}

void ControlServer::AddConnection(UniqueFd socket, const Door* door) {
  fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  const Result<Peer> peer = PeerOf(socket.get());
  if (!peer) return Dispose(std::move(socket));
  if (!WithinBounds(peer->uid)) {
    Refuse(socket.get(), code::kTooManyConnections, "too many control connections");
    return Dispose(std::move(socket));
  }
  if (!HasDescriptors()) {
    Refuse(socket.get(), code::kNoDescriptors, "ringdeald is at its descriptor limit");
    return Dispose(std::move(socket));
  }
  const DoorId id = door != nullptr ? door->id : 0;
  ControlConnection::Callbacks callbacks;
  callbacks.line = [this, id](ControlConnection* from, std::string_view line,
                              std::vector<UniqueFd> descriptors) {
    callbacks_.line(from, id, line, std::move(descriptors));
  };
  callbacks.ended = [this](ControlConnection* from, const char* code) {
    if (code != nullptr)
      Refuse(from->socket(), code, "the connection broke a bound of the protocol");
    callbacks_.ended(from);
    --held_by_uid_[from->peer().uid];
    connections_.erase(from);
  };
  ++held_by_uid_[peer->uid];
  auto connection = std::make_unique<ControlConnection>(
      std::move(socket), *peer, door != nullptr ? door->opener : *peer, loop_,
      limits_.registration_timeout, std::move(callbacks));
  ControlConnection* key = connection.get();
  connections_[key] = {std::move(connection), id};
}

bool ControlServer::WithinBounds(uid_t uid) const {
  if (connections_.size() + doors_.size() >= limits_.control_connections) return false;
  const auto held = held_by_uid_.find(uid);
  return uid == 0 || held == held_by_uid_.end() ||
         held->second < limits_.control_connections_per_uid;
}

void ControlServer::Refuse(int socket, const char* code, const char* text) {
  callbacks_.refused(code);
  const std::string line = ErrorLine({code, text});
  (void)SendWithDescriptors(socket, {reinterpret_cast<const std::byte*>(line.data()), line.size()},
                            {}, {}, MSG_DONTWAIT);
}

Result<ControlServer::DoorEnd> ControlServer::OpenDoor(const Peer& opener) {
  if (!WithinBounds(opener.uid) || !HasDescriptors()) return SystemError{EMFILE, "door"};
  Result<SocketPair> pair = MakeMessagePair();
  if (!pair) return pair.error();
  auto door = std::make_unique<Door>();
  const DoorId id = ++last_door_;
  door->id = id;
  door->opener = opener;
  door->socket = std::move(pair->first);
  door->watch = loop_->WatchReadable(door->socket.get(), [this, id] { UseDoor(id); });
  ++held_by_uid_[opener.uid];
  doors_[id] = std::move(door);
  return DoorEnd{id, std::move(pair->second)};
}

bool ControlServer::DoorIsClosed(DoorId id) const {
  const auto found = doors_.find(id);
  return found == doors_.end() || IsAtEnd(found->second->socket.get());
}

void ControlServer::UseDoor(DoorId id) {
  Door* door = doors_[id].get();
  std::array<std::byte, 16> data;
  Result<ReceivedMessage> message = ReceiveWithDescriptors(door->socket.get(), data, MSG_DONTWAIT);
  if (!message) {
    const int number = message.error().number;
    if (number != EAGAIN && number != EMFILE && number != EMSGSIZE) CloseDoor(id);
    return;
  }
  if (message->bytes == 0) return CloseDoor(id);
  if (message->descriptor_count != 1) {
    for (UniqueFd& descriptor : message->descriptors) Dispose(std::move(descriptor));
    return callbacks_.refused(code::kBadDescriptors);
  }
  AddConnection(std::move(message->descriptors[0]), door);
}

void ControlServer::CloseDoor(DoorId id) {
  const std::unique_ptr<Door> door = std::move(doors_[id]);
  doors_.erase(id);
  door->watch.reset();
  Dispose(std::move(door->socket));
  --held_by_uid_[door->opener.uid];
  callbacks_.door_closed(id);
}

}  // namespace ringdeal
