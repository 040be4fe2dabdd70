#include "daemon/accepting/listening_socket.h"

#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "daemon/accepting/socket_path.h"
#include "protocol/new_clients.h"
#include "protocol/nonblocking_listener.h"
#include "protocol/socket_identity.h"

namespace ringdeal {
namespace {

const char* PathOf(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr_un*>(&address.storage)->sun_path;
}

ListenError Failure(const ListenerConfig& config, const char* step, int number) {
  std::string hint;
  if (number == EADDRINUSE) hint = "; another process has the address (ss -ltnp shows which)";
  if (number == EACCES) hint = "; ports below 1024 and this path need more privilege";
  if (number == EADDRNOTAVAIL) hint = "; no interface of this machine has the address";
  return {"listener " + config.name + " (" + config.bind + "): " + step + ": " +
              std::strerror(number) + hint,
          number == EADDRINUSE};
}

// Without reaching its accept queue: a stream socket refuses datagrams by their kind, a path to
// which no socket is bound any more refuses the connection.
bool IsBound(const SocketAddress& address) {
  const UniqueFd probe(socket(AF_UNIX, SOCK_DGRAM, 0));
  return connect(probe.get(), address.get(), address.length) == 0 || errno != ECONNREFUSED;
}

// Makes a path that exists free to be bound, if nobody has it any more.
Result<void, ListenError> RemoveStalePath(const SocketAddress& address,
                                          const ListenerConfig& config) {
  const char* path = PathOf(address);
  const std::string where = "listener " + config.name + " (" + config.bind + "): ";
  struct stat status = {};
  if (path[0] == '\0' || lstat(path, &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) {
    return ListenError{where + "exists and is no socket; remove it or choose another path"};
  }
  if (IsBound(address)) {
    return ListenError{where + "another process listens on it; stop that one first",
                       /*in_use=*/true};
  }
  if (unlink(path) != 0 && errno != ENOENT) {
    return ListenError{where + "a stale socket that cannot be removed: " + std::strerror(errno)};
  }
  return {};
}

Result<void, ListenError> SetOwner(const ListenerConfig& config, const char* path) {
  const auto fail = [&config](const std::string& problem) {
    return ListenError{"listener " + config.name + " (" + config.bind + "): " + problem};
  };
  uid_t uid = static_cast<uid_t>(-1);
  gid_t gid = static_cast<gid_t>(-1);
  if (!config.owner.empty()) {
    const passwd* user = getpwnam(config.owner.c_str());
    if (user == nullptr) return fail("no user named " + config.owner);
    uid = user->pw_uid;
  }
  if (!config.group.empty()) {
    const group* found = getgrnam(config.group.c_str());
    if (found == nullptr) return fail("no group named " + config.group);
    gid = found->gr_gid;
  }
  const Result<void> set = SetSocketPathOwner(path, config.mode, uid, gid);
  if (!set)
    return fail(std::string("mode or owner of the path: ") + std::strerror(set.error().number));
  return {};
}

bool SharesItsPort(int socket) {
  int shares = 0;
  socklen_t length = sizeof(shares);
  SocketAddress address;
  return LocalAddressOf(socket, &address) && address.family() != AF_UNIX &&
         getsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &shares, &length) == 0 && shares != 0;
}

Result<void, ListenError> SetOptions(int socket, const ListenerConfig& config, int family) {
  const int on = 1;
  if (family == AF_UNIX) return {};
  if (setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0) {
    return Failure(config, "SO_REUSEADDR", errno);
  }
  const int only = config.ipv6_only ? 1 : 0;
  if (family == AF_INET6 &&
      setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only)) != 0) {
    return Failure(config, "IPV6_V6ONLY", errno);
  }
  return {};
}

}  // namespace

Result<UniqueFd, ListenError> OpenListeningSocket(const ListenerConfig& config) {
  SocketAddress address;
  if (!ParseAddress(config.bind.c_str(), &address)) return Failure(config, "address", EINVAL);
  const bool is_unix = address.family() == AF_UNIX;
  if (is_unix) {
    if (const auto removed = RemoveStalePath(address, config); !removed) return removed.error();
  }
  UniqueFd socket(::socket(address.family(), SOCK_STREAM, 0));
  if (!socket) return Failure(config, "socket", errno);
  fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  const Result<void, ListenError> set = SetOptions(socket.get(), config, address.family());
  if (!set) return set.error();
  if (bind(socket.get(), address.get(), address.length) != 0) return Failure(config, "bind", errno);
  const char* path = PathOf(address);
  if (is_unix && path[0] != '\0') {
    if (const auto set_owner = SetOwner(config, path); !set_owner) {
      unlink(path);
      return set_owner.error();
    }
  }
  if (listen(socket.get(), config.backlog) != 0) return Failure(config, "listen", errno);
  if (const Result<int> flags = MakeListenerNonBlocking(socket.get()); !flags) {
    return Failure(config, flags.error().step, flags.error().number);
  }
  return socket;
}

Result<void, ListenError> SetPathOwner(const ListenerConfig& config) {
  SocketAddress address;
  if (!IsPath(config.bind) || !ParseAddress(config.bind.c_str(), &address)) return {};
  return SetOwner(config, PathOf(address));
}

Result<UniqueFd, ListenError> AdoptInheritedSocket(int descriptor, const ListenerConfig& config) {
  UniqueFd socket(descriptor);
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  if (!IsListening(descriptor)) {
    return ListenError{"listener " + config.name +
                       ": the service manager's descriptor is no listening socket; use "
                       "Accept=no and ListenStream= in its unit"};
  }
  if (const Result<int> flags = MakeListenerNonBlocking(descriptor); !flags) {
    return Failure(config, flags.error().step, flags.error().number);
  }
  return socket;
}

bool IsAsConfigured(int socket, const ListenerConfig& config) {
  SocketAddress wanted;
  SocketAddress own;
  if (!ParseAddress(config.bind.c_str(), &wanted) || !LocalAddressOf(socket, &own)) return false;
  // The port has the same place in both families. 0: whichever it got.
  auto* wanted_port = &reinterpret_cast<sockaddr_in*>(&wanted.storage)->sin_port;
  if (wanted.family() != AF_UNIX && *wanted_port == 0) {
    *wanted_port = reinterpret_cast<const sockaddr_in*>(&own.storage)->sin_port;
  }
  char wanted_text[kMaxAddressText];
  if (!IsListening(socket) || wanted.family() != own.family() ||
      !FormatAddress(wanted, wanted_text, sizeof(wanted_text)) ||
      LocalAddressText(socket) != wanted_text) {
    return false;
  }
  int only = config.ipv6_only ? 1 : 0;
  socklen_t length = sizeof(only);
  if (own.family() == AF_INET6 &&
      (getsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &only, &length) != 0 ||
       (only != 0) != config.ipv6_only)) {
    return false;
  }
  return !IsPath(wanted_text) || IsAtPath(socket, PathOf(own));
}

Result<UniqueFd, ListenError> TakeBackSocket(int descriptor, const ListenerConfig& config) {
  Result<UniqueFd, ListenError> socket = AdoptInheritedSocket(descriptor, config);
  SocketAddress address;
  if (!socket || !LocalAddressOf(descriptor, &address)) return socket;
  if (IsPath(LocalAddressText(descriptor))) {
    if (const auto set_owner = SetOwner(config, PathOf(address)); !set_owner) {
      return set_owner.error();
    }
  }
  LetNewClientsIn(descriptor);
  if (listen(descriptor, config.backlog) != 0) return Failure(config, "listen", errno);
  return socket;
}

Result<void> ListenAgain(int socket, const SocketAddress& address, int backlog) {
  (void)bind(socket, address.get(), address.length);  // EINVAL if it still has its port
  if (listen(socket, backlog) != 0) return SystemError{errno, "listen"};
  return {};
}

bool AreSiblings(int one, int other) {
  struct stat first = {};
  struct stat second = {};
  return SharesItsPort(one) && SharesItsPort(other) && fstat(one, &first) == 0 &&
         fstat(other, &second) == 0 && first.st_uid == second.st_uid;
}

bool IsPath(const std::string& address) {
  return address.starts_with("unix:") && !address.starts_with("unix:@");
}

std::string CanonicalAddress(const std::string& bind) {
  SocketAddress address;
  char text[kMaxAddressText];
  const bool valid = ParseAddress(bind.c_str(), &address);
  return valid && FormatAddress(address, text, sizeof(text)) ? text : bind;
}

std::string LocalAddressText(int socket) {
  SocketAddress address;
  char text[kMaxAddressText];
  if (!LocalAddressOf(socket, &address) || !FormatAddress(address, text, sizeof(text))) return "";
  return text;
}

}  // namespace ringdeal
