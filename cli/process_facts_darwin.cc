#include <libproc.h>
#include <netinet/in.h>
#include <sys/proc_info.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

#include "cli/process_facts.h"
#include "cli/process_sockets_darwin.h"
#include "cli/processes.h"
#include "protocol/socket_address.h"

namespace ringdeal {
namespace {

SocketAddress AddressOf(const socket_info& socket) {
  SocketAddress address;
  if (socket.soi_kind == SOCKINFO_UN) {
    const sockaddr_un& name = socket.soi_proto.pri_un.unsi_addr.ua_sun;
    std::memcpy(&address.storage, &name, address.length = sizeof(name));
    return address;
  }
  const in_sockinfo& info = socket.soi_proto.pri_tcp.tcpsi_ini;
  const auto port = static_cast<in_port_t>(info.insi_lport);
  if ((info.insi_vflag & INI_IPV4) != 0) {
    sockaddr_in in = {};
    in.sin_family = AF_INET;
    in.sin_port = port;
    in.sin_addr = info.insi_laddr.ina_46.i46a_addr4;
    std::memcpy(&address.storage, &in, address.length = sizeof(in));
  } else {
    sockaddr_in6 in = {};
    in.sin6_family = AF_INET6;
    in.sin6_port = port;
    in.sin6_addr = info.insi_laddr.ina_6;
    std::memcpy(&address.storage, &in, address.length = sizeof(in));
  }
  return address;
}

bool Listens(const socket_info& socket) {
  if (socket.soi_kind == SOCKINFO_UN) return (socket.soi_options & SO_ACCEPTCONN) != 0;
  return socket.soi_kind == SOCKINFO_TCP && socket.soi_proto.pri_tcp.tcpsi_state == TSI_S_LISTEN;
}

}  // namespace

// What decides about a preload library is not looked at: there is no shim for this system.
std::optional<ProcessFacts> LookAt(pid_t pid) {
  proc_bsdinfo info = {};
  const int got = proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, static_cast<int>(sizeof(info)));
  if (got != static_cast<int>(sizeof(info))) return std::nullopt;
  ProcessFacts facts;
  facts.pid = pid;
  facts.name = NameOf(pid);
  facts.uid = info.pbi_uid;
  facts.gids = {info.pbi_gid};
  facts.visible = ForEachSocketOf(pid, [&](const socket_info& socket) {
    char text[kMaxAddressText];
    if (!Listens(socket) || !FormatAddress(AddressOf(socket), text, sizeof(text))) return;
    facts.listeners.push_back({IdOf(socket), text, std::nullopt});
  });
  return facts;
}

}  // namespace ringdeal
