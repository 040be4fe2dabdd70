#include <libproc.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "cli/process_sockets_darwin.h"
#include "cli/processes.h"

namespace ringdeal {
namespace {

// The two ends of a TCP connection, IPv4 in the last four bytes of a host.
struct Ends {
  unsigned char own_host[16] = {};
  unsigned char peer_host[16] = {};
  uint16_t own_port = 0;
  uint16_t peer_port = 0;
};

SocketId IdOf(const Ends& ends) {
  // The lowest bit keeps it from being 0, which means that there is no descriptor.
  const std::string_view bytes(reinterpret_cast<const char*>(&ends), sizeof(ends));
  return std::hash<std::string_view>()(bytes) | 1;
}

void SetEnd(const SocketAddress& address, unsigned char* host, uint16_t* port) {
  if (address.family() == AF_INET) {
    const auto* source = reinterpret_cast<const sockaddr_in*>(address.get());
    std::memcpy(host + 12, &source->sin_addr, 4);
    *port = source->sin_port;
  } else if (address.family() == AF_INET6) {
    const auto* source = reinterpret_cast<const sockaddr_in6*>(address.get());
    std::memcpy(host, &source->sin6_addr, 16);
    *port = source->sin6_port;
  }
}

}  // namespace

SocketId IdOf(const SocketAddress& own, const SocketAddress& peer) {
  Ends ends;
  SetEnd(own, ends.own_host, &ends.own_port);
  SetEnd(peer, ends.peer_host, &ends.peer_port);
  return IdOf(ends);
}

SocketId IdOf(const socket_info& socket) {
  if (socket.soi_kind != SOCKINFO_TCP) return socket.soi_so;
  const in_sockinfo& info = socket.soi_proto.pri_tcp.tcpsi_ini;
  Ends ends;
  ends.own_port = static_cast<uint16_t>(info.insi_lport);
  ends.peer_port = static_cast<uint16_t>(info.insi_fport);
  if ((info.insi_vflag & INI_IPV4) != 0) {
    std::memcpy(ends.own_host + 12, &info.insi_laddr.ina_46.i46a_addr4, 4);
    std::memcpy(ends.peer_host + 12, &info.insi_faddr.ina_46.i46a_addr4, 4);
  } else {
    std::memcpy(ends.own_host, &info.insi_laddr.ina_6, 16);
    std::memcpy(ends.peer_host, &info.insi_faddr.ina_6, 16);
  }
  return IdOf(ends);
}

bool ForEachSocketOf(pid_t pid, const std::function<void(const socket_info&)>& each) {
  const int bytes = proc_pidinfo(pid, PROC_PIDLISTFDS, 0, nullptr, 0);
  if (bytes <= 0) return errno != EPERM;
  std::vector<proc_fdinfo> descriptors(static_cast<size_t>(bytes) / sizeof(proc_fdinfo));
  const int filled = proc_pidinfo(pid, PROC_PIDLISTFDS, 0, descriptors.data(), bytes);
  if (filled <= 0) return errno != EPERM;
  descriptors.resize(static_cast<size_t>(filled) / sizeof(proc_fdinfo));
  for (const proc_fdinfo& descriptor : descriptors) {
    if (descriptor.proc_fdtype != PROX_FDTYPE_SOCKET) continue;
    socket_fdinfo facts = {};
    const int got = proc_pidfdinfo(pid, descriptor.proc_fd, PROC_PIDFDSOCKETINFO, &facts,
                                   static_cast<int>(sizeof(facts)));
    if (got == static_cast<int>(sizeof(facts))) each(facts.psi);
  }
  return true;
}

std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> pids(static_cast<size_t>(proc_listallpids(nullptr, 0)) + 64);
  const int count = proc_listallpids(pids.data(), static_cast<int>(pids.size() * sizeof(pid_t)));
  pids.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return pids;
}

Holders FindHolders(const std::unordered_set<SocketId>& wanted) {
  Holders holders;
  for (const pid_t pid : AllProcesses()) {
    const bool seen = ForEachSocketOf(pid, [&](const socket_info& socket) {
      const SocketId id = IdOf(socket);
      if (!wanted.contains(id)) return;
      std::vector<pid_t>& found = holders.of[id];
      if (found.empty() || found.back() != pid) found.push_back(pid);
    });
    if (!seen) holders.complete = false;
  }
  return holders;
}

pid_t ParentOf(pid_t pid) {
  proc_bsdinfo facts = {};
  const int got = proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &facts, static_cast<int>(sizeof(facts)));
  return got == static_cast<int>(sizeof(facts)) ? static_cast<pid_t>(facts.pbi_ppid) : 0;
}

std::string NameOf(pid_t pid) {
  char name[2 * MAXCOMLEN + 1] = "";
  return proc_name(pid, name, sizeof(name)) > 0 ? name : "";
}

Result<void> EndWithParent(pid_t) { return {}; }

}  // namespace ringdeal
