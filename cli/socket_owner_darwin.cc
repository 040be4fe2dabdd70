#include <libproc.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/process_sockets_darwin.h"
#include "cli/processes.h"
#include "cli/socket_owner.h"

namespace ringdeal {
namespace {

bool ListensAt(const socket_info& socket, const SocketAddress& served) {
  if (served.family() == AF_UNIX) {
    const auto* name = reinterpret_cast<const sockaddr_un*>(served.get());
    return socket.soi_kind == SOCKINFO_UN && (socket.soi_options & SO_ACCEPTCONN) != 0 &&
           std::strcmp(socket.soi_proto.pri_un.unsi_addr.ua_sun.sun_path, name->sun_path) == 0;
  }
  const auto port = served.family() == AF_INET
                        ? reinterpret_cast<const sockaddr_in*>(served.get())->sin_port
                        : reinterpret_cast<const sockaddr_in6*>(served.get())->sin6_port;
  return socket.soi_kind == SOCKINFO_TCP && socket.soi_proto.pri_tcp.tcpsi_state == TSI_S_LISTEN &&
         static_cast<in_port_t>(socket.soi_proto.pri_tcp.tcpsi_ini.insi_lport) == port;
}

}  // namespace

Result<SocketOwner> SocketOwner::Open() { return SocketOwner(); }

// A connection in an accept queue has an id here too, which no process holds.
Result<SocketId> SocketOwner::ServerEndOf(int client) {
  SocketAddress own;
  SocketAddress peer;
  peer.length = sizeof(peer.storage);
  if (!LocalAddressOf(client, &own)) return SystemError{errno, "getsockname"};
  if (getpeername(client, peer.get(), &peer.length) != 0) {
    return SystemError{ENOENT, "getpeername"};
  }
  if (peer.family() != AF_UNIX) return IdOf(peer, own);
  socket_fdinfo facts = {};
  const int got = proc_pidfdinfo(getpid(), client, PROC_PIDFDSOCKETINFO, &facts,
                                 static_cast<int>(sizeof(facts)));
  if (got != static_cast<int>(sizeof(facts))) return SystemError{ENOENT, "proc_pidfdinfo"};
  return SocketId{facts.psi.soi_proto.pri_un.unsi_conn_so};
}

// Does not tell a listener of one address from one of all: both are shown.
std::vector<SocketId> SocketOwner::ListenersOf(const SocketAddress& served) {
  std::vector<SocketId> found;
  for (const pid_t pid : AllProcesses()) {
    ForEachSocketOf(pid, [&](const socket_info& socket) {
      if (ListensAt(socket, served)) found.push_back(IdOf(socket));
    });
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace ringdeal
