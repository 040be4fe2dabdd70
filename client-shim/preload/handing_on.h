// What leaves this process under a listener's number, by exec, spawn or a message, must be the
// socket there, not what stands in its place here. Any thread, signal handlers and vfork children
// too.
#pragma once

#include <spawn.h>
#include <sys/socket.h>

namespace ringdeal::shim {

// The listener behind a slot, if its ready set is what whoever calls has under `number`; else -1.
int SocketBehind(int number);
// True if `number` is open after an exec.
bool IsPassedOn(int number);

// For the length of an exec: every number that the new image inherits has its socket again. If the
// exec fails, the same ready set comes back, and whoever waits on it has noticed nothing. Meanwhile
// ringdeald hands nothing over; what it has handed it takes back once the process is another image.
class SocketsGivenBack {
 public:
  SocketsGivenBack();
  ~SocketsGivenBack();
  SocketsGivenBack(const SocketsGivenBack&) = delete;
  SocketsGivenBack& operator=(const SocketsGivenBack&) = delete;
};

// spawn.cc
using RealSpawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*,
                          const posix_spawnattr_t*, char* const*, char* const*);
// Spawns with the sockets in the child alone: the slots of this process stay as they are, since
// other threads may begin to poll them meanwhile. Allocates, as the C library does.
int Spawn(RealSpawn real_spawn, pid_t* pid, const char* program,
          const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
          char* const* arguments, char* const* environment);

// messages.cc
// sendmsg and sendmmsg: where SCM_RIGHTS passes a slot on, its listener goes instead.
ssize_t SendMessage(int socket, const msghdr* message, int flags);
int SendMessages(int socket, mmsghdr* messages, unsigned count, int flags);

}  // namespace ringdeal::shim
