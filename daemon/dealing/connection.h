// One accepted connection in ringdeald's hand. Whoever holds the object holds the connection.
#pragma once

#include <sys/socket.h>

#include "daemon/dealing/policy.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

struct Connection {
  UniqueFd socket;
  sockaddr_storage peer = {};
  socklen_t peer_length = 0;
  bool nonblocking = false;  // the socket is
  ReceivingCpu cpu = -1;
};

// Closes it as the kernel does with those that wait for a listener that is closed: the client sees
// a reset, not the end of an answer, and knows that nobody has read what it asked. On a UNIX socket
// it sees a reset only if it has sent something, else the end.
void CloseWithReset(Connection connection);

}  // namespace ringdeal
