// The control socket: takes connections over its path, its abstract address and through doors, and
// bounds them. Knows nothing of what is said over them. Control thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/operating/config.h"
#include "daemon/operating/event_loop.h"
#include "daemon/workers/control_connection.h"

namespace ringdeal {

// The descriptor numbers kept for accepting and for recalling, whatever workers ask for: this many,
// or a quarter of what the process may have.
inline constexpr int kReservedDescriptors = 64;

class ControlServer {
 public:
  // A way to register that forked children inherit. `id` is never used twice.
  using DoorId = uint64_t;

  struct Callbacks {
    std::function<void(ControlConnection*, DoorId, std::string_view, std::vector<UniqueFd>)> line;
    std::function<void(ControlConnection*)> ended;
    // All copies of a door were closed, or somebody broke it.
    std::function<void(DoorId)> door_closed;
    // Somebody was refused or cut off; `code` is one of namespace code.
    std::function<void(const char* code)> refused;
  };

  ControlServer(EventLoop* loop, const Limits& limits, Callbacks callbacks);
  ~ControlServer();

  // Listens at the path and, where there are any, at the abstract address of the same name. A path
  // on which nobody listens is taken over. The error is one line for the operator.
  Result<void, std::string> Listen(const ControlConfig& config);
  // Takes no more connections, removes the path.
  void StopListening();

  // For what comes from now on; nobody who is connected is cut off.
  void Use(const Limits& limits) { limits_ = limits; }

  struct DoorEnd {
    DoorId id = 0;
    UniqueFd end;  // to be passed on
  };
  Result<DoorEnd> OpenDoor(const Peer& opener);
  // True if all copies were closed, whether or not that was noticed yet.
  bool DoorIsClosed(DoorId id) const;

  size_t connections() const { return connections_.size(); }
  // True while descriptor numbers are left for one more worker.
  bool HasDescriptors() const;

 private:
  struct Door;
  struct Entry {
    std::unique_ptr<ControlConnection> connection;
    DoorId door = 0;
  };

  bool AddListener(UniqueFd socket);
  void Accept(int listener);
  void AddConnection(UniqueFd socket, const Door* door);
  bool WithinBounds(uid_t uid) const;
  void UseDoor(DoorId id);
  void CloseDoor(DoorId id);
  void Refuse(int socket, const char* code, const char* text);

  EventLoop* const loop_;
  Limits limits_;
  const Callbacks callbacks_;
  std::string path_;
  std::vector<UniqueFd> listeners_;
  std::vector<std::unique_ptr<EventLoop::Watch>> listener_watches_;
  std::unique_ptr<EventLoop::Watch> pause_;
  std::map<ControlConnection*, Entry> connections_;
  std::map<DoorId, std::unique_ptr<Door>> doors_;
  std::map<uid_t, size_t> held_by_uid_;  // connections and doors
  DoorId last_door_ = 0;
};

}  // namespace ringdeal
