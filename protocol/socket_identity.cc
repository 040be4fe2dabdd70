#include "protocol/socket_identity.h"

#include <poll.h>
#include <sys/socket.h>

#include "protocol/system_calls.h"

namespace ringdeal {

bool IsShutDown(int socket) {
  pollfd watched = {socket, 0, 0};
  return sys::Poll(&watched, 1, 0) > 0 && (watched.revents & POLLHUP) != 0;
}

bool IsListening(int socket) {
  int listening = 0;
  socklen_t length = sizeof(listening);
  return sys::GetSocketOption(socket, SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) == 0 &&
         listening != 0;
}

}  // namespace ringdeal
