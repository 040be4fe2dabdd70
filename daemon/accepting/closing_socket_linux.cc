#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <iterator>

#include "daemon/accepting/closing_socket.h"

namespace ringdeal {

// A filter that lets a TCP segment pass unless it is the first of a connection: its flags, the byte
// at 13, say SYN and not ACK. Accepted sockets have it too, where no such segment comes.
void TurnNewClientsAway(int socket) {
  int protocol = 0;
  socklen_t length = sizeof(protocol);
  if (getsockopt(socket, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) != 0) return;
  if (protocol != IPPROTO_TCP) return;
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),          BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
  };
  const sock_fprog filter = {std::size(program), program};
  (void)setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
}

void LetNewClientsIn(int socket) {
  const int ignored = 0;
  (void)setsockopt(socket, SOL_SOCKET, SO_DETACH_FILTER, &ignored, sizeof(ignored));
}

}  // namespace ringdeal
