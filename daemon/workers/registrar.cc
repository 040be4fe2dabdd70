#include "daemon/workers/registrar.h"

#include <algorithm>
#include <utility>

#include "daemon/operating/log.h"
#include "daemon/operating/monotonic_clock.h"
#include "daemon/workers/disposal.h"
#include "daemon/workers/document_memory.h"
#include "protocol/control_messages.h"
#include "protocol/peer_credentials.h"

namespace ringdeal {
namespace {

Result<MappedPage> FillPage(int memory, uint64_t worker_id, const Listener::Socket& socket) {
  Result<MappedPage> page = MapNewPage(memory);
  if (!page) return page;
  Page::Header& header = (*page)->header;
  header.magic = kPageMagic;
  header.version = kPageVersion;
  header.size = kPageBytes;
  header.listener_cookie = socket.identity.cookie;
  header.worker_id = worker_id;
  header.listener_flags = static_cast<uint32_t>(socket.flags);
  return page;
}

struct DisposeAtEnd {
  std::vector<UniqueFd>* descriptors;
  ~DisposeAtEnd() {
    for (UniqueFd& descriptor : *descriptors) Dispose(std::move(descriptor));
  }
};

}  // namespace

// The credentials of what came through a door are those of whoever made the socket's other end,
// which need not be the sender: a worker can connect to a socket on which root listens. They name
// the worker and permit nothing: there, possession of a listener is the only permission.
const Peer& Registrar::AuthorityOf(const Caller& caller) {
  static const Peer nobody;
  return caller.door == 0 ? caller.connection->peer() : nobody;
}

Registrar::Registrar(EventLoop* loop, const Config& config, const Self& self,
                     ListenerTable* listeners, OwnedListeners* owned, Notebook* notebook,
                     Recaller* recaller, Redealer* redealer, DirectSwitch* direct, Tools tools)
    : loop_(loop),
      config_(config),
      self_(self),
      listeners_(listeners),
      owned_(owned),
      recaller_(recaller),
      redealer_(redealer),
      direct_(direct),
      tools_(std::move(tools)),
      adoption_(loop, config, self, listeners, notebook, MakeQueries()) {}

Adoption::Queries Registrar::MakeQueries() {
  const auto works_for = [this](const std::shared_ptr<Listener>& listener, bool living) {
    return std::any_of(members_.begin(), members_.end(), [&](const auto& member) {
      return member.second.listener == listener && !(living && member.first->PeerIsGone());
    });
  };
  return {
      .has_workers =
          [this, works_for](const auto& listener) {
            return emptying_.contains(listener) || works_for(listener, false);
          },
      .has_living_workers = [works_for](const auto& listener) { return works_for(listener, true); },
      .door_is_closed = [this](ControlServer::DoorId door) { return server_->DoorIsClosed(door); }};
}

Registrar::Handler Registrar::HandlerOf(const std::string& op) {
  static const std::map<std::string, Handler> handlers = {
      {op::kBind, &Registrar::Bind},     {op::kRegister, &Registrar::Register},
      {op::kReady, &Registrar::Ready},   {op::kReport, &Registrar::Report},
      {op::kLeave, &Registrar::Leave},   {op::kStatus, &Registrar::Status},
      {op::kDrain, &Registrar::Drain},   {op::kUndrain, &Registrar::Undrain},
      {op::kReload, &Registrar::Reload},
  };
  const auto found = handlers.find(op);
  return found == handlers.end() ? nullptr : found->second;
}

void Registrar::TakeLine(ControlConnection* from, ControlServer::DoorId door, std::string_view line,
                         std::vector<UniqueFd> descriptors) {
  Caller caller{from, door, std::move(descriptors)};
  const DisposeAtEnd dispose_at_end{&caller.descriptors};
  const auto refuse = [this, from](const RequestError& error) {
    CountRefusal(error.code);
    Log(LogLevel::kWarn, "request_refused",
        {{"code", error.code},
         {"reason", error.text},
         {"pid", from->peer().pid},
         {"uid", from->peer().uid}});
    from->Answer(ErrorLine(error), {});
  };
  const Result<Request, RequestError> request = ParseRequest(line);
  if (!request) return refuse(request.error());
  const Handler handler = HandlerOf(request->op);
  if (handler == nullptr) return refuse({code::kUnknownOp, "unknown op \"" + request->op + "\""});
  if (!caller.descriptors.empty() && handler != &Registrar::Register) {
    return refuse({code::kBadDescriptors, "this op takes no descriptors"});
  }
  const Result<void, RequestError> done = (this->*handler)(*request, &caller);
  if (!done) refuse(done.error());
}

void Registrar::TakeEnd(ControlConnection* from) { EndMembership(from); }

void Registrar::TakeDoorClosed(ControlServer::DoorId door) { adoption_.CloseDoor(door); }

// The shim looks at the number of descriptors only. None: it binds as it would without ringdeald,
// which the kernel refuses if the address is owned.
Result<void, RequestError> Registrar::Bind(const Request& request, Caller* caller) {
  if (!request.address) return RequestError{code::kBadRequest, "\"address\" is missing"};
  if (stopping_) return RequestError{code::kStopping, "ringdeald is stopping"};
  // Told late, or by the end of the connection: whoever asks again finds it here.
  if (owned_->Awaits(*request.address)) return {};
  const Peer& peer = AuthorityOf(*caller);
  const std::shared_ptr<Listener> owned = listeners_->FindOwned(*request.address);
  const bool may = owned != nullptr ? MayTake(peer, self_, owned->config().allow)
                                    : MayAdopt(peer, self_, config_.adopt);
  if (!may) {
    CountRefusal(code::kNotAllowed);
    caller->connection->Answer(OkLine(), {});
    return {};
  }
  const Result<ControlServer::DoorEnd> door = server_->OpenDoor(peer);
  if (!door) return FailedStep(door.error());
  if (owned != nullptr) {
    if (const auto restored = owned_->RestorePath(owned); !restored) {
      return RequestError{code::kBadRequest, restored.error().text};
    }
  }
  const auto orphan =
      owned == nullptr ? adoption_.FindOrphan(*request.address, *caller->connection) : nullptr;
  if (orphan != nullptr) adoption_.NoteDoor(door->id, orphan);
  const std::shared_ptr<Listener> given = owned != nullptr ? owned : orphan;
  std::vector<int> descriptors;
  if (given != nullptr) descriptors.push_back(given->sockets().back().descriptor.get());
  descriptors.push_back(door->end.get());
  caller->connection->Answer(OkLine(), descriptors);
  return {};
}

Result<void, RequestError> Registrar::Register(const Request& request, Caller* caller) {
  if (members_.contains(caller->connection)) {
    return RequestError{code::kAlreadyRegistered,
                        "one control connection is one worker; open another for another listener"};
  }
  const size_t expected = (request.passes_listener ? 1 : 0) + (request.passes_pidfd ? 1 : 0);
  if (caller->descriptors.size() != expected) {
    return RequestError{code::kBadDescriptors,
                        "expected " + std::to_string(expected) + " descriptors with the request, " +
                            std::to_string(caller->descriptors.size()) + " came"};
  }
  if (!server_->HasDescriptors()) {
    return RequestError{code::kNoDescriptors,
                        "ringdeald is at its descriptor limit; raise LimitNOFILE of its service"};
  }
  SocketIdentity held;
  if (request.passes_listener) {
    const int socket = caller->descriptors[0].get();
    const Result<SocketIdentity> identity = IdentityOf(socket);
    if (!identity || (!IsListening(socket) && !IsShutDown(socket))) {
      return RequestError{code::kBadDescriptors, "the descriptor passed is no listening socket"};
    }
    held = *identity;
  }
  if (stopping_ && !IsNeededToStop(request, held)) {
    return RequestError{code::kStopping, "ringdeald is stopping"};
  }
  const Result<std::shared_ptr<Listener>, RequestError> listener =
      FindListener(request, held, caller);
  if (!listener) return listener.error();
  const Listener::Socket* socket = (*listener)->Find(held);
  if (socket == nullptr) socket = &(*listener)->sockets().back();
  Result<void, RequestError> joined = Join(request, *listener, *socket, caller);
  if (!joined) adoption_.LetGoIfUnused(*listener);
  return joined;
}

// A server that is reloaded replaces its workers: what the old ones leave has to go to the new
// ones; and while listeners are closed, what waits goes to whom they have.
bool Registrar::IsNeededToStop(const Request& request, const SocketIdentity& held) const {
  std::shared_ptr<Listener> listener;
  if (request.passes_listener) {
    listener = listeners_->FindByIdentity(held);
  } else if (request.listener) {
    listener = listeners_->FindByName(*request.listener);
  }
  if (listener == nullptr) return false;
  const bool is_open =
      listener->intake_state().load(std::memory_order_relaxed) != IntakeState::kStopped;
  if (config_.on_stop == "close" && is_open) return true;
  return listener->dealer().kept() > 0 || listener->dealer().HasUntaken(MonotonicNs());
}

// Possession of the listener is the permission to register; without it, the listener's `allow`.
Result<std::shared_ptr<Listener>, RequestError> Registrar::FindListener(const Request& request,
                                                                        const SocketIdentity& held,
                                                                        Caller* caller) {
  if (request.passes_listener) {
    if (auto listener = listeners_->FindByIdentity(held)) return listener;
    // A server that is reloaded replaces its workers: what the old ones leave goes to the new ones.
    if (auto listener = tools_.find_leaving(held)) return listener;
    UniqueFd& socket = caller->descriptors[0];
    if (IsShutDown(socket.get())) {
      if (auto listener = owned_->FindSuccessorOf(socket.get(), held)) return listener;
      return RequestError{code::kBadDescriptors, "the listener passed was closed"};
    }
    if (auto listener = owned_->Claim(&socket, held, AuthorityOf(*caller))) return listener;
    return adoption_.Adopt(std::move(caller->descriptors[0]), *caller->connection);
  }
  std::shared_ptr<Listener> listener;
  if (request.listener) listener = listeners_->FindByName(*request.listener);
  if (listener == nullptr && request.address) listener = listeners_->FindOwned(*request.address);
  const std::string wanted = request.listener.value_or(request.address.value_or(""));
  if (listener == nullptr && owned_->Awaits(wanted)) {
    return RequestError{code::kNotYet, "listener " + wanted + " is not back yet"};
  }
  if (listener == nullptr) {
    return RequestError{code::kUnknownListener,
                        "no listener " + wanted + "; `ringdeal status` lists them"};
  }
  if (!MayTake(AuthorityOf(*caller), self_, listener->config().allow)) {
    return RequestError{code::kNotAllowed, "this user may not take connections of listener " +
                                               listener->name() + "; see its `allow`"};
  }
  return listener;
}

Result<void, RequestError> Registrar::Join(const Request& request,
                                           std::shared_ptr<Listener> listener,
                                           const Listener::Socket& socket, Caller* caller) {
  ControlConnection* connection = caller->connection;
  const Result<UniqueFd> memory = CreatePageMemory();
  if (!memory) return FailedStep(memory.error());
  Result<MappedPage> page = FillPage(memory->get(), ++last_worker_id_, socket);
  if (!page) return FailedStep(page.error());
  Result<Channel> channel = Channel::Create();
  if (!channel) return FailedStep(channel.error());
  Result<UniqueFd> process = PeerProcessDescriptor(connection->socket());
  if (!process && request.passes_pidfd && connection->peer().pid != 0) {
    process = std::move(caller->descriptors.back());
  }

  WorkerIdentity identity{.id = last_worker_id_,
                          .pid = connection->peer().pid,
                          .uid = connection->peer().uid,
                          .weight = request.weight,
                          .cpus = request.cpus,
                          .observer = request.observer,
                          .forked = request.forked,
                          .one_at_a_time = request.one_at_a_time,
                          .direct = request.direct};
  std::vector<int> answer = {channel->worker_end(), memory->get()};
  if (listener->config().share_listener) answer.push_back(socket.descriptor.get());
  const std::optional<Slot> slot = listener->dealer().Add(
      std::make_unique<Worker>(std::move(identity), std::move(*page), std::move(*channel)),
      MonotonicNs());
  if (!slot) {
    return RequestError{code::kTooManyWorkers, "listener " + listener->name() +
                                                   " has as many workers as limits.workers allows"};
  }
  members_[connection] = {listener, *slot, last_worker_id_};
  if (!listener->owned() && caller->door != 0) adoption_.NoteDoor(caller->door, listener);
  connection->BecomeMember();
  adoption_.NoteJoined(listener);
  redealer_->Look(listener, MonotonicNs());
  direct_->NoteChange(listener);
  if (process) connection->WatchProcess(std::move(*process));
  Log(LogLevel::kInfo, "joined",
      {{"listener", listener->name()}, {"slot", *slot}, {"pid", connection->peer().pid}});
  // A peer that got no channel is no member, even if it stays.
  if (!connection->Answer(RegisteredLine(*slot, listener->name()), answer)) {
    EndMembership(connection);
  }
  listeners_->Wake(listener);
  return {};
}

Result<void, RequestError> Registrar::Ready(const Request&, Caller* caller) {
  const auto member = members_.find(caller->connection);
  if (member == members_.end()) return {};
  redealer_->LookAt(member->second.listener, member->second.slot, MonotonicNs());
  direct_->Look(member->second.listener);
  listeners_->Wake(member->second.listener);
  return {};
}

Result<void, RequestError> Registrar::Report(const Request& request, Caller* caller) {
  const auto member = members_.find(caller->connection);
  if (member == members_.end()) {
    return RequestError{code::kNotRegistered, "report after register, on the same connection"};
  }
  member->second.listener->dealer().Report(member->second.slot, request.report);
  listeners_->Wake(member->second.listener);
  return {};
}

Result<void, RequestError> Registrar::Leave(const Request&, Caller* caller) {
  if (!members_.contains(caller->connection)) {
    return RequestError{code::kNotRegistered, "this connection has not registered"};
  }
  EndMembership(caller->connection);
  caller->connection->Answer(OkLine(), {});
  return {};
}

Result<void, RequestError> Registrar::Status(const Request&, Caller* caller) {
  const std::string document = tools_.status();
  const Result<UniqueFd> memory = MakeDocumentMemory(document);
  if (!memory) return FailedStep(memory.error());
  const int descriptor = memory->get();
  caller->connection->Answer(BytesLine(document.size()), {&descriptor, 1});
  return {};
}

Result<void, RequestError> Registrar::Drain(const Request& request, Caller* caller) {
  return SetDraining(request, caller, true);
}

Result<void, RequestError> Registrar::Undrain(const Request& request, Caller* caller) {
  return SetDraining(request, caller, false);
}

Result<void, RequestError> Registrar::SetDraining(const Request& request, Caller* caller,
                                                  bool draining) {
  if (!MayAdminister(AuthorityOf(*caller), self_, config_.control.admin)) {
    return RequestError{code::kNotAllowed, "this user may not drain; see control.admin"};
  }
  const auto listener = listeners_->FindByName(request.listener.value_or(""));
  if (listener == nullptr) return RequestError{code::kUnknownListener, "no such listener"};
  Dealer& dealer = listener->dealer();
  const std::optional<Slot> slot = request.pid ? dealer.FindByPid(*request.pid) : request.slot;
  ToEmpty drained;
  if (slot) drained = dealer.SetDraining(*slot, draining);
  if (drained.channel == nullptr) return RequestError{code::kUnknownWorker, "no such worker"};
  // A drained one comes for what waits for it. In our hand, with nobody to give it to, it would be
  // lost if we were killed.
  if (draining && dealer.HasEligible(MonotonicNs())) {
    recaller_->Empty(listener, drained, [] {});
  }
  redealer_->Look(listener, MonotonicNs());
  direct_->Look(listener);
  listeners_->Wake(listener);
  caller->connection->Answer(OkLine(), {});
  return {};
}

// Who reloads is told why it failed; the log has it from who reads the file.
Result<void, RequestError> Registrar::Reload(const Request&, Caller* caller) {
  if (!MayAdminister(AuthorityOf(*caller), self_, config_.control.admin)) {
    return RequestError{code::kNotAllowed, "this user may not reload; see control.admin"};
  }
  if (stopping_) return RequestError{code::kStopping, "ringdeald is stopping"};
  const Result<std::string, ConfigError> done = tools_.reload();
  if (!done) CountRefusal(code::kBadConfiguration);
  caller->connection->Answer(
      done ? ChangesLine(*done) : ErrorLine({code::kBadConfiguration, done.error().text}), {});
  return {};
}

// The order that makes leaving safe: nothing is sent after Detach, then the channel is emptied,
// then the slot may be used again.
void Registrar::EndMembership(ControlConnection* connection) {
  const auto found = members_.find(connection);
  if (found == members_.end()) return;
  const Membership member = std::move(found->second);
  members_.erase(found);
  const std::unique_ptr<Worker> worker = TakeOut(member);
  emptying_.insert(member.listener);
  recaller_->Empty(member.listener, {worker->channel(), member.slot, member.worker_id},
                   [this, member] {
                     loop_->Post([this, member] {
                       member.listener->dealer().Release(member.slot);
                       emptying_.erase(emptying_.find(member.listener));
                       adoption_.LetGoIfUnused(member.listener);
                     });
                   });
  // What it had counts no more towards max_active.
  listeners_->Wake(member.listener);
}

// From here on nothing is sent to it.
std::unique_ptr<Worker> Registrar::TakeOut(const Membership& member) {
  std::unique_ptr<Worker> worker = member.listener->dealer().Detach(member.slot);
  redealer_->Look(member.listener, MonotonicNs());
  direct_->NoteChange(member.listener);
  Log(LogLevel::kInfo, "left",
      {{"listener", member.listener->name()},
       {"slot", member.slot},
       {"pid", worker->identity().pid}});
  return worker;
}

void Registrar::SendAway(const std::shared_ptr<Listener>& listener) {
  std::erase_if(members_, [&](const auto& each) {
    if (each.second.listener != listener) return false;
    // Closes our ends of its channel; what that holds is the worker's.
    TakeOut(each.second);
    each.first->End(nullptr);
    return true;
  });
  adoption_.Forget(listener);
}

void Registrar::RunErrands(const std::shared_ptr<Listener>& listener) {
  for (const Slot slot : listener->dealer().TakeGone()) EndWorker(listener, slot);
  for (const Slot slot : listener->dealer().TakeLiars()) {
    Log(LogLevel::kWarn, "counts_corrected",
        {{"listener", listener->name()},
         {"slot", slot},
         {"reason", "the worker's counts ran backwards or past what it was handed"}});
  }
  if (listener->dealer().TakeResetsBegun()) {
    Log(LogLevel::kWarn, "no_worker_resets",
        {{"listener", listener->name()},
         {"reason", "no worker came within hold_timeout: connections are reset until one does"}});
  }
  for (const ToEmpty& bell : listener->dealer().TakeUnansweredBells()) {
    // Its channel may hold connections by now, if it accepts after all.
    recaller_->Empty(listener, bell,
                     [listener] { listener->dealer().NoteBellsTakenOut(MonotonicNs()); });
  }
  if (listener->dealer().WantsWatchOfUntaken()) recaller_->Watch(listener);
}

void Registrar::EndWorker(const std::shared_ptr<Listener>& listener, Slot slot) {
  for (const auto& [connection, member] : members_) {
    if (member.listener == listener && member.slot == slot) connection->End(nullptr);
  }
}

}  // namespace ringdeal
