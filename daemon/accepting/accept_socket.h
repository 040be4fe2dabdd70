// accept(2) in the form that ringdeald needs. Acceptor thread.
#pragma once

#include <sys/socket.h>

#include "protocol/unique_fd.h"

namespace ringdeal {

// A blocking, close-on-exec descriptor and the peer's address. Invalid, with errno, if there is
// none.
UniqueFd AcceptSocket(int listener, sockaddr* peer, socklen_t* length);

}  // namespace ringdeal
