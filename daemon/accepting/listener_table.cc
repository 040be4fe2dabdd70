#include "daemon/accepting/listener_table.h"

#include <algorithm>
#include <utility>

namespace ringdeal {

ListenerTable::ListenerTable(int acceptors, const IntakeCallbacks& callbacks) {
  for (int i = 0; i < acceptors; ++i) acceptors_.push_back(std::make_unique<Acceptor>(callbacks));
}

void ListenerTable::Add(ListenerPtr listener) {
  listeners_.push_back(listener);
  for (const Listener::Socket& socket : listener->sockets()) {
    Watch(listener, socket.descriptor.get());
  }
}

void ListenerTable::Watch(const ListenerPtr& listener, int socket) {
  AcceptorOf(*listener).Watch(listener, socket);
}

void ListenerTable::StopAccepting(const ListenerPtr& listener, std::function<void()> stopped) {
  AcceptorOf(*listener).StopAccepting(listener, std::move(stopped));
}

void ListenerTable::TakeOut(const ListenerPtr& listener, std::function<void()> stopped) {
  StopAccepting(listener, std::move(stopped));
  std::erase(listeners_, listener);
}

void ListenerTable::Remove(const ListenerPtr& listener, std::function<void()> gone) {
  AcceptorOf(*listener).Forget(listener, std::move(gone));
  std::erase(listeners_, listener);
}

bool ListenerTable::Contains(const ListenerPtr& listener) const {
  return std::find(listeners_.begin(), listeners_.end(), listener) != listeners_.end();
}

std::string ListenerTable::UnusedName(const std::string& name) const {
  std::string unused = name;
  for (int i = 2; FindByName(unused) != nullptr; ++i) unused = name + "#" + std::to_string(i);
  return unused;
}

// By its first socket, which it keeps for life.
Acceptor& ListenerTable::AcceptorOf(const Listener& listener) const {
  const uint64_t cookie = listener.sockets().front().identity.cookie;
  return *acceptors_[cookie % acceptors_.size()];
}

ListenerTable::ListenerPtr ListenerTable::FindByName(std::string_view name) const {
  for (const ListenerPtr& listener : listeners_) {
    if (listener->name() == name) return listener;
  }
  return nullptr;
}

ListenerTable::ListenerPtr ListenerTable::FindOwned(std::string_view address) const {
  for (const ListenerPtr& listener : listeners_) {
    if (listener->owned() && listener->address() == address) return listener;
  }
  return nullptr;
}

ListenerTable::ListenerPtr ListenerTable::FindAdopted(std::string_view address, uint64_t network,
                                                      uid_t uid) const {
  for (const ListenerPtr& listener : listeners_) {
    const bool same_network = listener->sockets().front().identity.network == network;
    if (!listener->owned() && listener->address() == address && listener->uid() == uid &&
        same_network) {
      return listener;
    }
  }
  return nullptr;
}

ListenerTable::ListenerPtr ListenerTable::FindAdoptedAt(std::string_view address,
                                                        uint64_t network) const {
  for (const ListenerPtr& listener : listeners_) {
    const bool same_network = listener->sockets().front().identity.network == network;
    if (!listener->owned() && listener->address() == address && same_network) return listener;
  }
  return nullptr;
}

ListenerTable::ListenerPtr ListenerTable::FindByIdentity(const SocketIdentity& identity) const {
  for (const ListenerPtr& listener : listeners_) {
    if (listener->Find(identity) != nullptr) return listener;
  }
  return nullptr;
}

}  // namespace ringdeal
