#include "daemon/accepting/closing_socket.h"

#include <poll.h>
#include <sys/socket.h>

namespace ringdeal {

bool HasWaiting(int socket) {
  pollfd watched = {socket, POLLIN, 0};
  return poll(&watched, 1, 0) > 0 && (watched.revents & POLLIN) != 0;
}

void ShutDown(int socket) { (void)shutdown(socket, SHUT_RDWR); }

}  // namespace ringdeal
