#include "daemon/operating/owned_listeners.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "daemon/accepting/socket_path.h"
#include "daemon/operating/address_holders.h"
#include "daemon/operating/log.h"
#include "daemon/operating/service_manager.h"
#include "protocol/new_clients.h"
#include "protocol/nonblocking_listener.h"

namespace ringdeal {
namespace {

// The workers may also end, and leave the address to be bound.
constexpr std::chrono::milliseconds kTryAgainAfter(500);

void LogListening(const Listener& listener) {
  Log(LogLevel::kInfo, "listening",
      {{"listener", listener.name()},
       {"address", listener.address()},
       {"policy", listener.config().policy}});
}

// Whether clients come to the socket that it has for them.
bool HasItsPath(const Listener& listener) {
  const std::string& address = listener.address();
  const int current = listener.sockets().back().descriptor.get();
  return !IsPath(address) || IsAtPath(current, address.c_str() + std::strlen("unix:"));
}

// The network namespace in which ringdeald itself binds.
uint64_t OwnNetwork() {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
  const Result<SocketIdentity> identity = IdentityOf(socket.get());
  return identity ? identity->network : 0;
}

}  // namespace

OwnedListeners::OwnedListeners(EventLoop* loop, const Config& config, const Self& self,
                               ListenerTable* listeners, Notebook* notebook)
    : config_(config),
      self_(self),
      listeners_(listeners),
      notebook_(notebook),
      again_(loop->MakeTimer([this] { TryAgain(); })),
      overdue_(loop->MakeTimer([this] { TellHolders(); })) {}

Result<void, std::string> OwnedListeners::Open(std::vector<InheritedSocket> inherited) {
  DropUnasked(&inherited);
  for (const ListenerConfig& config : config_.listeners) {
    const auto match =
        std::find_if(inherited.begin(), inherited.end(), [&config](const InheritedSocket& socket) {
          return socket.name == config.name && socket.descriptor.valid();
        });
    InheritedSocket given;
    if (match != inherited.end()) given = std::move(*match);
    const auto opened = OpenOne(config, std::move(given));
    if (!opened) return opened;
  }
  // What the service manager gave and the configuration does not name is dealt with the defaults.
  for (InheritedSocket& socket : inherited) {
    if (!socket.descriptor || socket.stored) continue;
    ListenerConfig config = config_.adopted;
    config.name = listeners_->UnusedName(socket.name);
    config.bind = LocalAddressText(socket.descriptor.get());
    const auto opened = OpenOne(config, std::move(socket));
    if (!opened) return opened;
  }
  WatchAwaited();
  return {};
}

void OwnedListeners::WatchAwaited() {
  if (awaited_.empty()) return;
  again_->Arm(kTryAgainAfter);
  overdue_->Arm(config_.reclaim_timeout);
}

Result<std::vector<OwnedListeners::Opened>, std::string> OwnedListeners::OpenAdded(
    const ReloadPlan& plan) const {
  std::vector<Opened> all;
  for (const ListenerConfig& config : plan.added) {
    Result<Opened, std::string> opened = OpenOneAdded(config, plan);
    if (!opened) {
      for (const Opened& each : all) Discard(each);
      return opened.error();
    }
    all.push_back(std::move(*opened));
  }
  return all;
}

Result<OwnedListeners::Opened, std::string> OwnedListeners::OpenOneAdded(
    const ListenerConfig& config, const ReloadPlan& plan) const {
  Opened opened{config, nullptr, nullptr};
  const std::string address = CanonicalAddress(config.bind);
  const ListenerPtr namesake = listeners_->FindByName(config.name);
  if (namesake != nullptr && std::ranges::count(plan.removed, config.name) == 0) {
    if (namesake->address() != address) {
      return "listener " + config.name + ": another listener has this name already, that of " +
             namesake->address() + "; choose another";
    }
    // What the service manager gave without a word about it in the configuration.
    if (namesake->owned()) return opened;
  }
  Result<UniqueFd, ListenError> socket = OpenListeningSocket(config);
  if (!socket) {
    opened.adopted = listeners_->FindAdoptedAt(address, OwnNetwork());
    const bool may_have = socket.error().in_use && opened.adopted != nullptr &&
                          MayHave(config, opened.adopted->sockets().front().descriptor.get());
    if (may_have) return opened;
    return socket.error().text;
  }
  opened.listener = Make(config);
  const Result<void> added = opened.listener->AddSocket(std::move(*socket), 0);
  if (added) return opened;
  return "listener " + config.name + ": " + added.error().step + ": " +
         std::strerror(added.error().number);
}

void OwnedListeners::Discard(const Opened& opened) {
  const bool made_path = opened.listener != nullptr && IsPath(opened.listener->address());
  if (made_path) unlink(opened.config.bind.c_str() + std::strlen("unix:"));
}

void OwnedListeners::Begin(const std::vector<Opened>& all) {
  for (const Opened& opened : all) {
    if (opened.listener != nullptr) {
      Begin(opened.listener);
      LogListening(*opened.listener);
    } else if (opened.adopted != nullptr) {
      awaited_.push_back({opened.config, opened.adopted->address()});
    }
  }
  WatchAwaited();
}

void OwnedListeners::ReviseAwaited() {
  std::erase_if(awaited_, [this](Awaited& each) {
    for (const ListenerConfig& config : config_.listeners) {
      if (config.name != each.config.name) continue;
      if (CanonicalAddress(config.bind) != each.address) return true;
      each.config = config;
      return false;
    }
    return true;
  });
}

// What the configuration has no more, or elsewhere, ends with the ringdeald that stored it.
void OwnedListeners::DropUnasked(std::vector<InheritedSocket>* inherited) const {
  for (InheritedSocket& socket : *inherited) {
    const auto asks = [&socket](const ListenerConfig& config) {
      return socket.name == config.name && IsAsConfigured(socket.descriptor.get(), config);
    };
    const auto& all = config_.listeners;
    if (!socket.stored || std::any_of(all.begin(), all.end(), asks)) continue;
    socket.descriptor.Reset();
    ForgetStoredListener(socket.name);
  }
}

Result<void, std::string> OwnedListeners::OpenOne(const ListenerConfig& config,
                                                  InheritedSocket given) {
  const int inherited = given.descriptor.Release();
  Result<UniqueFd, ListenError> socket = inherited < 0  ? OpenListeningSocket(config)
                                         : given.stored ? TakeBackSocket(inherited, config)
                                                        : AdoptInheritedSocket(inherited, config);
  if (!socket && socket.error().in_use) {
    awaited_.push_back({config, CanonicalAddress(config.bind)});
    Log(LogLevel::kWarn, "awaited",
        {{"listener", config.name}, {"address", config.bind}, {"reason", socket.error().text}});
    return {};
  }
  if (!socket) return socket.error().text;
  const Result<ListenerPtr> listener = Add(config, std::move(*socket));
  if (!listener) {
    return "listener " + config.name + ": " + listener.error().step + ": " +
           std::strerror(listener.error().number);
  }
  if (inherited >= 0 && !given.stored) (*listener)->MarkLent();
  LogListening(**listener);
  return {};
}

Result<OwnedListeners::ListenerPtr> OwnedListeners::Add(const ListenerConfig& config,
                                                        UniqueFd socket) {
  ListenerPtr listener = Make(config);
  const Result<void> added = listener->AddSocket(std::move(socket), 0);
  if (!added) return added.error();
  Begin(listener);
  return listener;
}

OwnedListeners::ListenerPtr OwnedListeners::Make(const ListenerConfig& config) const {
  return std::make_shared<Listener>(config, /*owned=*/true, geteuid(), config_.limits);
}

void OwnedListeners::Begin(const ListenerPtr& listener) {
  listeners_->Add(listener);
  notebook_->Note(*listener);
}

Result<void> OwnedListeners::AddSocket(const ListenerPtr& listener, UniqueFd socket, bool lost) {
  if (listener->sockets().size() == kMostSockets) return SystemError{EMFILE, "sockets"};
  const int descriptor = socket.get();
  const Result<void> added =
      lost ? listener->AddLostSocket(std::move(socket)) : listener->AddSocket(std::move(socket), 0);
  if (!added) return added;
  listeners_->Watch(listener, descriptor);
  notebook_->Note(*listener);
  return {};
}

bool OwnedListeners::Awaits(std::string_view name_or_address) const {
  return std::any_of(awaited_.begin(), awaited_.end(), [&](const Awaited& each) {
    return each.config.name == name_or_address || each.address == name_or_address;
  });
}

OwnedListeners::ListenerPtr OwnedListeners::Claim(UniqueFd* socket, const SocketIdentity& identity,
                                                  const Peer& from) {
  const std::string address = LocalAddressText(socket->get());
  const ListenerNote* note = notebook_->Find(identity);
  const bool was_owned = note != nullptr && note->owned;
  if (ListenerPtr there = listeners_->FindOwned(address); was_owned && there != nullptr) {
    // One of the two has lost its path, and the listener was bound anew.
    if (!MakeListenerNonBlocking(socket->get())) return nullptr;
    LetNewClientsIn(socket->get());
    return AddSocket(there, std::move(*socket), HasItsPath(*there)) ? there : nullptr;
  }
  if (ListenerPtr there = listeners_->FindOwned(address)) {
    return AddSibling(there, socket, identity, from) ? there : nullptr;
  }
  const auto found = std::find_if(awaited_.begin(), awaited_.end(),
                                  [&](const Awaited& each) { return each.address == address; });
  if (found == awaited_.end()) return nullptr;
  if (!was_owned && !MayClaim(found->config, socket->get(), identity, from)) return nullptr;
  if (!MakeListenerNonBlocking(socket->get())) return nullptr;
  if (was_owned) LetNewClientsIn(socket->get());
  (void)listen(socket->get(), found->config.backlog);
  const Result<ListenerPtr> listener = Add(found->config, std::move(*socket));
  if (!listener) return nullptr;
  awaited_.erase(found);
  Log(LogLevel::kInfo, "reclaimed", {{"listener", (*listener)->name()}, {"pid", from.pid}});
  return *listener;
}

OwnedListeners::ListenerPtr OwnedListeners::FindSuccessorOf(int closed,
                                                            const SocketIdentity& identity) const {
  const ListenerNote* note = notebook_->Find(identity);
  return note != nullptr && note->owned ? listeners_->FindOwned(LocalAddressText(closed)) : nullptr;
}

bool OwnedListeners::AddSibling(const ListenerPtr& listener, UniqueFd* socket,
                                const SocketIdentity& identity, const Peer& from) {
  const ListenerConfig& config = listener->config();
  if (!AreSiblings(socket->get(), listener->sockets().front().descriptor.get()) ||
      !MayClaim(config, socket->get(), identity, from) || !MakeListenerNonBlocking(socket->get())) {
    return false;
  }
  (void)listen(socket->get(), config.backlog);
  return AddSocket(listener, std::move(*socket), /*lost=*/false).ok();
}

bool OwnedListeners::MayClaim(const ListenerConfig& config, int socket,
                              const SocketIdentity& identity, const Peer& from) const {
  return identity.network == OwnNetwork() &&
         (MayHave(config, socket) || MayTake(from, self_, config.allow));
}

bool OwnedListeners::MayHave(const ListenerConfig& config, int socket) const {
  struct stat status = {};
  if (fstat(socket, &status) != 0) return false;
  Peer maker;
  maker.uid = status.st_uid;
  return MayTake(maker, self_, config.allow);
}

Result<void, ListenError> OwnedListeners::RestorePath(const ListenerPtr& listener) {
  struct stat status = {};
  if (!IsPath(listener->address())) return {};
  const std::string path = listener->address().substr(std::strlen("unix:"));
  if (lstat(path.c_str(), &status) == 0 || errno != ENOENT) return {};
  Result<UniqueFd, ListenError> socket = OpenListeningSocket(listener->config());
  if (!socket) return socket.error();
  const Result<void> added = AddSocket(listener, std::move(*socket), /*lost=*/false);
  if (!added) return ListenError{std::string(added.error().step) + ": its path was removed"};
  Log(LogLevel::kInfo, "path_restored", {{"listener", listener->name()}, {"path", path}});
  return {};
}

void OwnedListeners::TryAgain() {
  std::erase_if(awaited_, [this](const Awaited& each) {
    Result<UniqueFd, ListenError> socket = OpenListeningSocket(each.config);
    if (!socket || !Add(each.config, std::move(*socket))) return false;
    LogListening(*listeners_->FindByName(each.config.name));
    return true;
  });
  if (!awaited_.empty()) again_->Arm(kTryAgainAfter);
}

void OwnedListeners::TellHolders() const {
  for (const Awaited& each : awaited_) {
    const std::string holders = HoldersOf(each.address);
    Log(LogLevel::kWarn, "not_reclaimed",
        {{"listener", each.config.name},
         {"address", each.address},
         {"held_by", holders.empty() ? "processes that ringdeald may not see" : holders},
         {"reason",
          "no worker of these brought it back; end them, or look why they do not "
          "register"}});
  }
}

}  // namespace ringdeal
