#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "protocol/new_clients.h"
#include "protocol/system_calls.h"

namespace ringdeal {
namespace {

// Lets a TCP segment pass unless it is the first of a connection: its flags, the byte at 13, say
// SYN and not ACK. Accepted sockets have the filter too, where no such segment comes.
constexpr sock_filter kFilter[] = {
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),          BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
};

}  // namespace

void TurnNewClientsAway(int listener) {
  const int saved_errno = errno;
  int protocol = 0;
  socklen_t length = sizeof(protocol);
  if (sys::GetSocketOption(listener, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) == 0 &&
      protocol == IPPROTO_TCP) {
    const sock_fprog filter = {std::size(kFilter), const_cast<sock_filter*>(kFilter)};
    (void)setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
  }
  errno = saved_errno;
}

// Of SO_GET_FILTER the length is a number of instructions. A longer filter does not fit, and is not
// ours.
void LetNewClientsIn(int listener) {
  const int saved_errno = errno;
  sock_filter found[std::size(kFilter)] = {};
  socklen_t count = std::size(kFilter);
  if (sys::GetSocketOption(listener, SOL_SOCKET, SO_GET_FILTER, found, &count) == 0 &&
      count == std::size(kFilter) && std::memcmp(found, kFilter, sizeof(kFilter)) == 0) {
    const int ignored = 0;
    (void)setsockopt(listener, SOL_SOCKET, SO_DETACH_FILTER, &ignored, sizeof(ignored));
  }
  errno = saved_errno;
}

}  // namespace ringdeal
