#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>

#include "cli/socket_owner.h"

namespace ringdeal {
namespace {

constexpr unsigned kListenStates = 1U << TCP_LISTEN;  // UNIX sockets use the same number
constexpr size_t kAnswerBytes = 64 * 1024;

// One question to the kernel's socket diagnostics, and its answers.
template <typename Question>
int Ask(int kernel, const Question& question, uint16_t flags,
        const std::function<void(const nlmsghdr*)>& each) {
  struct {
    nlmsghdr head;
    Question question;
  } request = {};
  request.head.nlmsg_len = sizeof(request);
  request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.head.nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
  request.question = question;
  if (send(kernel, &request, sizeof(request), 0) < 0) return errno;

  alignas(nlmsghdr) static char buffer[kAnswerBytes];
  for (;;) {
    ssize_t bytes = recv(kernel, buffer, sizeof(buffer), 0);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return errno;
    for (auto* head = reinterpret_cast<nlmsghdr*>(buffer); NLMSG_OK(head, bytes);
         head = NLMSG_NEXT(head, bytes)) {
      if (head->nlmsg_type == NLMSG_DONE) return 0;
      if (head->nlmsg_type == NLMSG_ERROR) {
        return -static_cast<const nlmsgerr*>(NLMSG_DATA(head))->error;
      }
      each(head);
      if ((flags & NLM_F_DUMP) == 0) return 0;
    }
  }
}

std::span<const std::byte> Attribute(const nlmsghdr* head, size_t fixed_bytes, uint16_t type) {
  auto* attribute = reinterpret_cast<const rtattr*>(static_cast<const char*>(NLMSG_DATA(head)) +
                                                    NLMSG_ALIGN(fixed_bytes));
  auto length = static_cast<int>(head->nlmsg_len - NLMSG_LENGTH(fixed_bytes));
  for (; RTA_OK(attribute, length); attribute = RTA_NEXT(attribute, length)) {
    if (attribute->rta_type != type) continue;
    return {static_cast<const std::byte*>(RTA_DATA(attribute)), RTA_PAYLOAD(attribute)};
  }
  return {};
}

in_port_t PortOf(const SocketAddress& address) {
  if (address.family() == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(address.get())->sin_port;
  }
  return reinterpret_cast<const sockaddr_in6*>(address.get())->sin6_port;
}

std::span<const std::byte> HostOf(const SocketAddress& address) {
  if (address.family() == AF_INET) {
    return std::as_bytes(
        std::span(&reinterpret_cast<const sockaddr_in*>(address.get())->sin_addr, 1));
  }
  return std::as_bytes(
      std::span(&reinterpret_cast<const sockaddr_in6*>(address.get())->sin6_addr, 1));
}

// A socket without a descriptor is in an accept queue, unless it has said goodbye already.
bool WasClosed(uint8_t state) {
  return state == TCP_FIN_WAIT1 || state == TCP_FIN_WAIT2 || state == TCP_TIME_WAIT ||
         state == TCP_CLOSE || state == TCP_LAST_ACK || state == TCP_CLOSING;
}

Result<SocketId> InternetServerEnd(int kernel, const SocketAddress& server,
                                   const SocketAddress& client) {
  inet_diag_req_v2 question = {};
  question.sdiag_family = static_cast<uint8_t>(server.family());
  question.sdiag_protocol = IPPROTO_TCP;
  question.idiag_states = ~0U;
  // As the server's socket sees it: its own address is the source.
  question.id.idiag_sport = PortOf(server);
  question.id.idiag_dport = PortOf(client);
  std::memcpy(question.id.idiag_src, HostOf(server).data(), HostOf(server).size());
  std::memcpy(question.id.idiag_dst, HostOf(client).data(), HostOf(client).size());
  question.id.idiag_cookie[0] = question.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;

  inet_diag_msg found = {};
  const int error = Ask(kernel, question, 0, [&](const nlmsghdr* head) {
    std::memcpy(&found, NLMSG_DATA(head), sizeof(found));
  });
  if (error != 0) return SystemError{error, "sock_diag"};
  // No connection of its own, but a listener for it: it was dropped from a full accept queue.
  if (found.idiag_state == TCP_LISTEN) return SocketId{0};
  if (found.idiag_inode == 0 && WasClosed(found.idiag_state)) return SystemError{ENOENT, "closed"};
  return SocketId{found.idiag_inode};
}

Result<SocketId> UnixServerEnd(int kernel, int client) {
  struct stat facts = {};
  if (fstat(client, &facts) != 0) return SystemError{errno, "fstat"};
  unix_diag_req question = {};
  question.sdiag_family = AF_UNIX;
  question.udiag_states = ~0U;
  question.udiag_ino = static_cast<uint32_t>(facts.st_ino);
  question.udiag_show = UDIAG_SHOW_PEER;
  question.udiag_cookie[0] = question.udiag_cookie[1] = INET_DIAG_NOCOOKIE;

  bool has_peer = false;
  uint32_t peer = 0;
  const int error = Ask(kernel, question, 0, [&](const nlmsghdr* head) {
    const auto found = Attribute(head, sizeof(unix_diag_msg), UNIX_DIAG_PEER);
    if (found.size() != sizeof(peer)) return;
    std::memcpy(&peer, found.data(), sizeof(peer));
    has_peer = true;
  });
  if (error != 0) return SystemError{error, "sock_diag"};
  if (!has_peer) return SystemError{ENOENT, "sock_diag"};
  return SocketId{peer};
}

// Listeners of one family, sorted into those of the very address and those of the wildcard. IPv6
// listeners also serve IPv4 unless they say IPV6_V6ONLY, which only shows in a wildcard address.
struct InternetListeners {
  std::vector<SocketId> exact;
  std::vector<SocketId> wildcard;

  void Collect(int kernel, const SocketAddress& served, uint8_t family) {
    inet_diag_req_v2 question = {};
    question.sdiag_family = family;
    question.sdiag_protocol = IPPROTO_TCP;
    question.idiag_states = kListenStates;
    Ask(kernel, question, NLM_F_DUMP, [&](const nlmsghdr* head) {
      const auto* answer = static_cast<const inet_diag_msg*>(NLMSG_DATA(head));
      if (answer->id.idiag_sport != PortOf(served) || answer->idiag_inode == 0) return;
      const std::span<const std::byte> host = HostOf(served);
      static constexpr uint32_t kAnyHost[4] = {};
      const bool same_family = served.family() == family;
      if (same_family && std::memcmp(answer->id.idiag_src, host.data(), host.size()) == 0) {
        exact.push_back(answer->idiag_inode);
      } else if (std::memcmp(answer->id.idiag_src, kAnyHost, sizeof(kAnyHost)) == 0 &&
                 (same_family || !IsIpv6Only(head))) {
        wildcard.push_back(answer->idiag_inode);
      }
    });
  }

  static bool IsIpv6Only(const nlmsghdr* head) {
    const auto only = Attribute(head, sizeof(inet_diag_msg), INET_DIAG_SKV6ONLY);
    return !only.empty() && only[0] != std::byte{0};
  }
};

// A path with or without its end, or an abstract name, which starts with a zero byte.
std::string_view UnixName(const void* bytes, size_t size) {
  const char* name = static_cast<const char*>(bytes);
  return {name, size > 0 && name[0] != '\0' ? strnlen(name, size) : size};
}

// The path of a connected socket's peer is the name that its listener has, as it was bound.
std::vector<SocketId> UnixListeners(int kernel, const SocketAddress& served) {
  const auto* address = reinterpret_cast<const sockaddr_un*>(served.get());
  const std::string_view name =
      UnixName(address->sun_path, served.length - offsetof(sockaddr_un, sun_path));
  unix_diag_req question = {};
  question.sdiag_family = AF_UNIX;
  question.udiag_states = kListenStates;
  question.udiag_show = UDIAG_SHOW_NAME;

  std::vector<SocketId> listeners;
  Ask(kernel, question, NLM_F_DUMP, [&](const nlmsghdr* head) {
    const auto bound = Attribute(head, sizeof(unix_diag_msg), UNIX_DIAG_NAME);
    if (bound.empty() || UnixName(bound.data(), bound.size()) != name) return;
    listeners.push_back(static_cast<const unix_diag_msg*>(NLMSG_DATA(head))->udiag_ino);
  });
  return listeners;
}

}  // namespace

Result<SocketOwner> SocketOwner::Open() {
  UniqueFd kernel(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!kernel) return SystemError{errno, "sock_diag"};
  return SocketOwner(std::move(kernel));
}

Result<SocketId> SocketOwner::ServerEndOf(int client) {
  SocketAddress own;
  SocketAddress peer;
  peer.length = sizeof(peer.storage);
  if (!LocalAddressOf(client, &own)) return SystemError{errno, "getsockname"};
  if (own.family() == AF_UNIX) return UnixServerEnd(kernel_.get(), client);
  if (getpeername(client, peer.get(), &peer.length) != 0) {
    return SystemError{ENOENT, "getpeername"};  // reset by the server
  }
  return InternetServerEnd(kernel_.get(), peer, own);
}

std::vector<SocketId> SocketOwner::ListenersOf(const SocketAddress& served) {
  if (served.family() == AF_UNIX) return UnixListeners(kernel_.get(), served);
  InternetListeners found;
  found.Collect(kernel_.get(), served, AF_INET6);
  if (served.family() == AF_INET) found.Collect(kernel_.get(), served, AF_INET);
  return found.exact.empty() ? found.wildcard : found.exact;
}

}  // namespace ringdeal
