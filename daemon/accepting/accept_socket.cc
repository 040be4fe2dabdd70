#include "daemon/accepting/accept_socket.h"

#include <algorithm>

namespace ringdeal {

Connection AcceptConnection(int listener, Blocking blocking) {
  Connection connection;
  connection.peer_length = sizeof(connection.peer);
  connection.socket = AcceptSocket(listener, reinterpret_cast<sockaddr*>(&connection.peer),
                                   &connection.peer_length, blocking);
  connection.nonblocking = blocking == Blocking::kNo;
  connection.peer_length = std::min<socklen_t>(connection.peer_length, sizeof(connection.peer));
  return connection;
}

}  // namespace ringdeal
