// All listeners, and the acceptor thread of each. Control thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/accepting/acceptor.h"
#include "daemon/accepting/listener.h"

namespace ringdeal {

class ListenerTable {
 public:
  using ListenerPtr = std::shared_ptr<Listener>;

  // `acceptors` > 0 threads, over which listeners are spread.
  ListenerTable(int acceptors, const IntakeCallbacks& callbacks);

  // Begins to accept on a socket that `listener` already has.
  void Add(ListenerPtr listener);
  void Watch(const ListenerPtr& listener, int socket);
  // Nothing more is accepted on it; then `stopped` is called on the acceptor thread. What it keeps
  // is dealt.
  void StopAccepting(const ListenerPtr& listener, std::function<void()> stopped);
  // It is not among the listeners any more, and nothing is accepted on it: then `stopped` is called
  // on the acceptor thread. What it keeps is dealt until Remove.
  void TakeOut(const ListenerPtr& listener, std::function<void()> stopped);
  // Stops accepting, then calls `gone` on the acceptor thread.
  void Remove(const ListenerPtr& listener, std::function<void()> gone);

  ListenerPtr FindByName(std::string_view name) const;
  // By the text form of the address, as FormatAddress writes it.
  ListenerPtr FindOwned(std::string_view address) const;
  ListenerPtr FindAdopted(std::string_view address, uint64_t network, uid_t uid) const;
  // Of whichever user.
  ListenerPtr FindAdoptedAt(std::string_view address, uint64_t network) const;
  ListenerPtr FindByIdentity(const SocketIdentity& identity) const;

  bool Contains(const ListenerPtr& listener) const;
  // `name`, or with "#2", "#3", … behind it if it is taken: one address may be there once in each
  // network namespace.
  std::string UnusedName(const std::string& name) const;

  void Wake(const ListenerPtr& listener) { AcceptorOf(*listener).Wake(listener); }
  const std::vector<ListenerPtr>& all() const { return listeners_; }
  const std::vector<std::unique_ptr<Acceptor>>& acceptors() const { return acceptors_; }

 private:
  Acceptor& AcceptorOf(const Listener& listener) const;

  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  std::vector<ListenerPtr> listeners_;
};

}  // namespace ringdeal
