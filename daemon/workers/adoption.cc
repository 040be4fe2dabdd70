#include "daemon/workers/adoption.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "daemon/accepting/listening_socket.h"
#include "daemon/operating/log.h"
#include "protocol/control_messages.h"
#include "protocol/nonblocking_listener.h"
#include "protocol/socket_address.h"

namespace ringdeal {
Adoption::Adoption(EventLoop* loop, const Config& config, const Self& self,
                   ListenerTable* listeners, Notebook* notebook, Queries queries)
    : loop_(loop),
      config_(config),
      self_(self),
      listeners_(listeners),
      notebook_(notebook),
      queries_(std::move(queries)) {}

Result<Adoption::ListenerPtr, RequestError> Adoption::Adopt(UniqueFd socket,
                                                            const ControlConnection& from) {
  const Result<SocketIdentity> identity = IdentityOf(socket.get());
  if (!identity) return FailedStep(identity.error());
  const ListenerNote* note = notebook_->Find(*identity);
  const std::optional<uid_t> uid = AnswerableFor(socket.get(), note, from.opener());
  if (!uid) {
    return RequestError{code::kNotAllowed,
                        "listeners of this user are not adopted; see `adopt` in the configuration"};
  }
  const Result<int> flags = MakeListenerNonBlocking(socket.get());
  if (!flags) return FailedStep(flags.error());
  const std::string address = LocalAddressText(socket.get());
  const int descriptor = socket.get();
  auto listener = listeners_->FindAdopted(address, identity->network, *uid);
  const bool sibling =
      listener != nullptr && AreSiblings(descriptor, listener->sockets().front().descriptor.get());
  if (!sibling) {
    ListenerConfig config = config_.adopted;
    config.name = listeners_->UnusedName(note != nullptr ? note->name : address);
    config.bind = address;
    listener = std::make_shared<Listener>(config, /*owned=*/false, *uid, config_.limits);
  }
  if (listener->sockets().size() == kMostSockets) {
    return RequestError{code::kTooManyWorkers, "listener " + listener->name() + " has " +
                                                   std::to_string(kMostSockets) +
                                                   " SO_REUSEPORT sockets already"};
  }
  const Result<void> added = listener->AddSocket(std::move(socket), *flags);
  if (!added) return FailedStep(added.error());
  if (sibling) {
    listeners_->Watch(listener, descriptor);
  } else {
    listeners_->Add(listener);
    Log(LogLevel::kInfo, note != nullptr ? "reclaimed" : "adopted",
        {{"listener", listener->name()}, {"pid", from.peer().pid}, {"uid", *uid}});
  }
  notebook_->Note(*listener);
  return listener;
}

// Whose listener it is: who was noted, who opened the door or stands before us, or else who made
// the socket. Workers may be of another user by now, and without a door. Nothing if none of them
// may have it adopted.
std::optional<uid_t> Adoption::AnswerableFor(int socket, const ListenerNote* note,
                                             const Peer& opener) const {
  if (note != nullptr && config_.adopt.enabled) return note->uid;
  if (MayAdopt(opener, self_, config_.adopt)) return opener.uid;
  struct stat status = {};
  if (fstat(socket, &status) != 0) return std::nullopt;
  Peer maker;
  maker.uid = status.st_uid;
  return MayAdopt(maker, self_, config_.adopt) ? std::optional(maker.uid) : std::nullopt;
}

Adoption::ListenerPtr Adoption::FindOrphan(const std::string& address,
                                           const ControlConnection& from) const {
  const uid_t uid = from.peer().uid;
  // A control connection is of the network namespace of the one who made it.
  const Result<SocketIdentity> there = IdentityOf(from.socket());
  // A path that a server binds anew is a new socket: it has removed the old one before.
  if (!there || IsPath(address)) return nullptr;
  for (const auto& listener : listeners_->all()) {
    if (listener->owned() || listener->address() != address || listener->uid() != uid) continue;
    if (listener->sockets().front().identity.network != there->network) continue;
    const bool held = std::any_of(doors_.begin(), doors_.end(), [&](const auto& door) {
      return door.second.contains(listener) && !queries_.door_is_closed(door.first);
    });
    if (!held && !queries_.has_living_workers(listener)) return listener;
  }
  return nullptr;
}

void Adoption::NoteDoor(DoorId door, const ListenerPtr& listener) {
  // One whose last copy was closed meanwhile holds nothing any more.
  if (!queries_.door_is_closed(door)) doors_[door].insert(listener);
}

void Adoption::CloseDoor(DoorId door) {
  const auto found = doors_.find(door);
  if (found == doors_.end()) return;
  const std::set<ListenerPtr> listeners = std::move(found->second);
  doors_.erase(found);
  for (const auto& listener : listeners) LetGoIfUnused(listener);
}

void Adoption::LetGoIfUnused(const ListenerPtr& listener) {
  if (MustStay(listener)) return;
  if (listener->dealer().kept() > 0) return WaitForAWorker(listener);
  LetGo(listener);
}

bool Adoption::MustStay(const ListenerPtr& listener) const {
  return listener->owned() || stopping_ || !listeners_->Contains(listener) || IsUsed(listener);
}

void Adoption::LetGo(const ListenerPtr& listener) {
  Log(LogLevel::kInfo, "let_go", {{"listener", listener->name()}});
  notebook_->Forget(*listener);
  listeners_->Remove(listener, [] {});
}

void Adoption::Forget(const ListenerPtr& listener) {
  abandoned_.erase(listener);
  for (auto& [door, listeners] : doors_) listeners.erase(listener);
}

bool Adoption::IsUsed(const ListenerPtr& listener) const {
  return queries_.has_workers(listener) ||
         std::any_of(doors_.begin(), doors_.end(),
                     [&](const auto& door) { return door.second.contains(listener); });
}

// Connections were taken out of the channel of its last worker. Another may be on its way: a server
// that is restarted. The end of the worker and that of its door are two signs; the first one starts
// the time.
void Adoption::WaitForAWorker(const ListenerPtr& listener) {
  if (abandoned_.contains(listener)) return;
  auto timer = loop_->MakeTimer([this, listener] {
    StopWaiting(listener);
    abandoned_.erase(listener);
  });
  timer->Arm(config_.drain_timeout);
  abandoned_[listener] = std::move(timer);
}

void Adoption::StopWaiting(const ListenerPtr& listener) {
  if (MustStay(listener)) return;
  Log(LogLevel::kError, "connections_dropped",
      {{"listener", listener->name()},
       {"connections", listener->dealer().kept()},
       {"reason", "its workers ended and none came within drain_timeout"}});
  LetGo(listener);
}

}  // namespace ringdeal
