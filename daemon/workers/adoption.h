// Adopted listeners, from being offered by a target program to being let go. Control thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "daemon/accepting/listener_table.h"
#include "daemon/operating/config.h"
#include "daemon/operating/event_loop.h"
#include "daemon/operating/notebook.h"
#include "daemon/workers/control_connection.h"
#include "daemon/workers/control_server.h"
#include "daemon/workers/request.h"

namespace ringdeal {

class Adoption {
 public:
  using ListenerPtr = std::shared_ptr<Listener>;
  using DoorId = ControlServer::DoorId;

  // What only others know.
  struct Queries {
    // Those that left and whose channel is still being emptied are among them.
    std::function<bool(const ListenerPtr&)> has_workers;
    // Not counting those whose end was not noticed yet.
    std::function<bool(const ListenerPtr&)> has_living_workers;
    std::function<bool(DoorId)> door_is_closed;
  };

  Adoption(EventLoop* loop, const Config& config, const Self& self, ListenerTable* listeners,
           Notebook* notebook, Queries queries);

  // The listener that `socket` is offered for: a new one, or one whose sibling it is. One that was
  // noted is adopted again whoever offers it.
  Result<ListenerPtr, RequestError> Adopt(UniqueFd socket, const ControlConnection& from);

  // An adopted listener whose processes have all ended, though not every sign of it was read yet: a
  // server that is started again would find its address in use, by us alone. It gets the listener
  // back, with what waits in its accept queue. Null if there is none.
  ListenerPtr FindOrphan(const std::string& address, const ControlConnection& from) const;

  // While a door is open through which somebody registered, a process that may come back holds the
  // listener.
  void NoteDoor(DoorId door, const ListenerPtr& listener);
  void CloseDoor(DoorId door);
  void NoteJoined(const ListenerPtr& listener) { abandoned_.erase(listener); }

  // Lets an adopted listener go when no worker is left and nobody is known who could come back:
  // then whatever process still holds it has it for itself.
  void LetGoIfUnused(const ListenerPtr& listener);
  // It was taken out of the listeners by somebody else.
  void Forget(const ListenerPtr& listener);
  // From now on nothing is let go.
  void Stop() { stopping_ = true; }

 private:
  std::optional<uid_t> AnswerableFor(int socket, const ListenerNote* note,
                                     const Peer& opener) const;
  bool IsUsed(const ListenerPtr& listener) const;
  bool MustStay(const ListenerPtr& listener) const;
  void LetGo(const ListenerPtr& listener);
  void WaitForAWorker(const ListenerPtr& listener);
  void StopWaiting(const ListenerPtr& listener);

  EventLoop* const loop_;
  const Config& config_;
  const Self self_;
  ListenerTable* const listeners_;
  Notebook* const notebook_;
  const Queries queries_;
  std::map<DoorId, std::set<ListenerPtr>> doors_;
  // Those that keep connections for a worker that may never come.
  std::map<ListenerPtr, std::unique_ptr<EventLoop::Watch>> abandoned_;
  bool stopping_ = false;
};

}  // namespace ringdeal
