// accept(2) in the form that ringdeald needs. Acceptor thread, and the control thread for sockets
// that no acceptor has any more.
#pragma once

#include <sys/socket.h>

#include "daemon/dealing/connection.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

enum class Blocking { kNo, kYes };

// A close-on-exec descriptor and the peer's address. Invalid, with errno, if there is none.
UniqueFd AcceptSocket(int listener, sockaddr* peer, socklen_t* length, Blocking blocking);

// The same as a connection, of which the receiving CPU is not asked. Its socket is invalid, with
// errno, if there is none.
Connection AcceptConnection(int listener, Blocking blocking = Blocking::kYes);

}  // namespace ringdeal
