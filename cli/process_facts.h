// What the system shows of one process: what decides whether the shim can work in it. Plain values,
// and the look itself. Main thread.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/socket_owner.h"

namespace ringdeal {

struct HeldListener {
  SocketId id = 0;
  std::string address;         // as text
  std::optional<uid_t> maker;  // user who made the socket, where the system says
};

enum class Linkage {
  kDynamic,
  kStatic,  // no loader runs that could load the shim
  kGo,      // makes its system calls without the C library
};

struct ProcessFacts {
  pid_t pid = 0;
  std::string name;
  std::vector<std::string> words;  // of its command line; a title, where it overwrote that
  uid_t uid = 0;
  std::vector<gid_t> gids;
  bool visible = true;             // false: another user's, what follows is not known
  std::optional<bool> has_shim;    // not set: the system does not say
  std::vector<std::string> files;  // libraries that it has loaded, by name
  std::optional<Linkage> linkage;
  bool elevated = false;  // gained privileges when it was executed: the loader ignored the preload
  // When it was executed. Not set: it cannot be read, or was overwritten to change the title.
  std::optional<std::map<std::string, std::string>> environment;
  bool uses_io_uring = false;
  bool has_seccomp_filter = false;
  bool has_other_root = false;     // other than the asking process
  bool has_other_network = false;  // network namespace, likewise
  std::vector<HeldListener> listeners;
};

// nullopt if there is no such process.
std::optional<ProcessFacts> LookAt(pid_t pid);

}  // namespace ringdeal
