// Answers what is asked over control connections: who binds, joins, reports, leaves, drains,
// reloads. Control thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/accepting/listener_table.h"
#include "daemon/operating/config.h"
#include "daemon/operating/config_parser.h"
#include "daemon/operating/event_loop.h"
#include "daemon/operating/owned_listeners.h"
#include "daemon/workers/adoption.h"
#include "daemon/workers/control_server.h"
#include "daemon/workers/direct_switch.h"
#include "daemon/workers/recaller.h"
#include "daemon/workers/redealer.h"
#include "daemon/workers/request.h"

namespace ringdeal {

class Registrar {
 public:
  // What others do.
  struct Tools {
    std::function<std::string()> status;  // renders the status document
    // Reads the configuration again: what has changed, or why nothing has.
    std::function<Result<std::string, ConfigError>()> reload;
    // A listener that is being taken away and has connections that wait for a worker; or null.
    std::function<std::shared_ptr<Listener>(const SocketIdentity&)> find_leaving;
  };

  Registrar(EventLoop* loop, const Config& config, const Self& self, ListenerTable* listeners,
            OwnedListeners* owned, Notebook* notebook, Recaller* recaller, Redealer* redealer,
            DirectSwitch* direct, Tools tools);

  // To be called once, before the first connection.
  void SetServer(ControlServer* server) { server_ = server; }

  // The callbacks of the control server.
  void TakeLine(ControlConnection* from, ControlServer::DoorId door, std::string_view line,
                std::vector<UniqueFd> descriptors);
  void TakeEnd(ControlConnection* from);
  void TakeDoorClosed(ControlServer::DoorId door);
  void CountRefusal(const char* code) { ++refusals_[code]; }

  // What a dealer found out: workers whose channel is closed, bells to be taken out again.
  void RunErrands(const std::shared_ptr<Listener>& listener);
  // Ends the control connection of a worker that can be dealt to no more.
  void EndWorker(const std::shared_ptr<Listener>& listener, Slot slot);
  // The listener was taken out. Its workers are let go with what their channels hold, as if
  // ringdeald had ended: those that hold the listener go on with it.
  void SendAway(const std::shared_ptr<Listener>& listener);
  // From now on nobody may bind, and join only to take what is in hand or in the channels of
  // others.
  void Stop() {
    stopping_ = true;
    adoption_.Stop();
  }

  const std::map<std::string, uint64_t>& refusals() const { return refusals_; }

 private:
  // What a control connection of a worker stands for.
  struct Membership {
    std::shared_ptr<Listener> listener;
    Slot slot = 0;
    uint64_t worker_id = 0;
  };
  struct Caller {
    ControlConnection* connection;
    ControlServer::DoorId door;
    std::vector<UniqueFd> descriptors;
  };
  using Handler = Result<void, RequestError> (Registrar::*)(const Request&, Caller*);

  Adoption::Queries MakeQueries();
  static Handler HandlerOf(const std::string& op);
  Result<void, RequestError> Bind(const Request& request, Caller* caller);
  Result<void, RequestError> Register(const Request& request, Caller* caller);
  Result<void, RequestError> Ready(const Request& request, Caller* caller);
  Result<void, RequestError> Report(const Request& request, Caller* caller);
  Result<void, RequestError> Leave(const Request& request, Caller* caller);
  Result<void, RequestError> Status(const Request& request, Caller* caller);
  Result<void, RequestError> Drain(const Request& request, Caller* caller);
  Result<void, RequestError> Undrain(const Request& request, Caller* caller);
  Result<void, RequestError> Reload(const Request& request, Caller* caller);

  Result<void, RequestError> SetDraining(const Request& request, Caller* caller, bool draining);
  // `held`: the identity of the listener that came with the request, if one did.
  bool IsNeededToStop(const Request& request, const SocketIdentity& held) const;
  Result<std::shared_ptr<Listener>, RequestError> FindListener(const Request& request,
                                                               const SocketIdentity& held,
                                                               Caller* caller);
  static const Peer& AuthorityOf(const Caller& caller);
  Result<void, RequestError> Join(const Request& request, std::shared_ptr<Listener> listener,
                                  const Listener::Socket& socket, Caller* caller);
  void EndMembership(ControlConnection* connection);
  std::unique_ptr<Worker> TakeOut(const Membership& member);

  EventLoop* const loop_;
  const Config& config_;
  const Self self_;
  ListenerTable* const listeners_;
  OwnedListeners* const owned_;
  Recaller* const recaller_;
  Redealer* const redealer_;
  DirectSwitch* const direct_;
  const Tools tools_;
  ControlServer* server_ = nullptr;
  Adoption adoption_;
  std::map<ControlConnection*, Membership> members_;
  // Of workers that have left and whose channel may still hold connections, one entry each.
  std::multiset<std::shared_ptr<Listener>> emptying_;
  std::map<std::string, uint64_t> refusals_;
  uint64_t last_worker_id_ = 0;
  bool stopping_ = false;
};

}  // namespace ringdeal
