// Ending a listening socket so that whoever connected is answered and whoever comes later is
// refused. Control thread; the acceptor may accept on it meanwhile.
#pragma once

namespace ringdeal {

// True if a connection waits to be accepted. REQUIRES: the socket was not shut down.
bool HasWaiting(int socket);

// For good, and for everybody who has the socket. What waits at a TCP socket is reset; at a UNIX
// socket it is still there to be accepted.
void ShutDown(int socket);

}  // namespace ringdeal
