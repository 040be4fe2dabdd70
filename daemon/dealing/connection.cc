#include "daemon/dealing/connection.h"

namespace ringdeal {

void CloseWithReset(Connection connection) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  (void)setsockopt(connection.socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

}  // namespace ringdeal
