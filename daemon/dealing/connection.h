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
  ReceivingCpu cpu = -1;
};

}  // namespace ringdeal
