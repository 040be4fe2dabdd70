// The listeners that the configuration names: opened at start and at a reload, or, where an address
// is still held by the workers of ringdeald's predecessor, awaited until one of them brings it
// back. Control thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/accepting/listener_table.h"
#include "daemon/accepting/listening_socket.h"
#include "daemon/operating/event_loop.h"
#include "daemon/operating/inherited_sockets.h"
#include "daemon/operating/notebook.h"
#include "daemon/operating/reload_plan.h"
#include "daemon/workers/authorization.h"

namespace ringdeal {

class OwnedListeners {
 public:
  using ListenerPtr = std::shared_ptr<Listener>;

  OwnedListeners(EventLoop* loop, const Config& config, const Self& self, ListenerTable* listeners,
                 Notebook* notebook);

  // `inherited` comes from the service manager and goes before what could be bound. The error is
  // one line for the operator; an address that is in use is none.
  Result<void, std::string> Open(std::vector<InheritedSocket> inherited);

  // For a reload. What a listener that is added comes to be.
  struct Opened {
    ListenerConfig config;
    ListenerPtr listener;  // null: it is there, or is awaited
    // Has the address, is to be taken out, and is then awaited: its workers bring it back.
    ListenerPtr adopted;
  };
  // Opens what the plan adds, all of it or nothing; it is not dealt yet. The error is one line for
  // the operator.
  Result<std::vector<Opened>, std::string> OpenAdded(const ReloadPlan& plan) const;
  // REQUIRES: what the plan removes, and what is adopted of these, is taken out.
  void Begin(const std::vector<Opened>& all);
  // The configuration is another now: only what it still names is awaited.
  void ReviseAwaited();

  // True if a listener of this name or address is to come yet.
  bool Awaits(std::string_view name_or_address) const;

  // A worker of the peer `from` brings a listening socket that no listener has. Takes the socket
  // and answers its listener if it is one of these: the socket was noted so, or it has an address
  // that is awaited, or is a sibling of one of that address, and its maker or `from` may take that
  // listener. Else null.
  ListenerPtr Claim(UniqueFd* socket, const SocketIdentity& identity, const Peer& from);

  // The listener that has the address of one which an earlier ringdeald closed; null if there is
  // none, or that one was not an owned one.
  ListenerPtr FindSuccessorOf(int closed, const SocketIdentity& identity) const;

  // Servers remove the path that they are about to bind, and with it ours: the socket that has lost
  // its path is still watched, and a new one is made at the path.
  Result<void, ListenError> RestorePath(const ListenerPtr& listener);

 private:
  struct Awaited {
    ListenerConfig config;
    std::string address;  // as the kernel says it
  };

  void DropUnasked(std::vector<InheritedSocket>* inherited) const;
  Result<void, std::string> OpenOne(const ListenerConfig& config, InheritedSocket given);
  Result<Opened, std::string> OpenOneAdded(const ListenerConfig& config,
                                           const ReloadPlan& plan) const;
  // Leaves nothing of what was opened in vain.
  static void Discard(const Opened& opened);
  void WatchAwaited();
  ListenerPtr Make(const ListenerConfig& config) const;
  void Begin(const ListenerPtr& listener);
  Result<ListenerPtr> Add(const ListenerConfig& config, UniqueFd socket);
  // `lost`: clients come to another one.
  Result<void> AddSocket(const ListenerPtr& listener, UniqueFd socket, bool lost);
  // Takes `socket` if it is a SO_REUSEPORT sibling of what the listener has, and may be claimed.
  bool AddSibling(const ListenerPtr& listener, UniqueFd* socket, const SocketIdentity& identity,
                  const Peer& from);
  bool MayClaim(const ListenerConfig& config, int socket, const SocketIdentity& identity,
                const Peer& from) const;
  // Whether the maker of the socket may take the listener.
  bool MayHave(const ListenerConfig& config, int socket) const;
  void TryAgain();
  void TellHolders() const;

  const Config& config_;
  const Self self_;
  ListenerTable* const listeners_;
  Notebook* const notebook_;
  std::vector<Awaited> awaited_;
  std::unique_ptr<EventLoop::Watch> again_;
  std::unique_ptr<EventLoop::Watch> overdue_;
};

}  // namespace ringdeal
