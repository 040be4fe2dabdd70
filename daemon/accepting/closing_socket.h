// Ending a listening socket so that whoever connected is answered and whoever comes later is
// refused. Control thread; the acceptor may accept on it meanwhile.
#pragma once

namespace ringdeal {

// From now on nobody connects, who has begun to is let through. A TCP client that comes later is
// not answered, and tries again a second later. Where the kernel cannot do that, nothing happens.
void TurnNewClientsAway(int socket);

// Takes that back, where an earlier ringdeald was killed before it came to the end.
void LetNewClientsIn(int socket);

// True if a connection waits to be accepted.
bool HasWaiting(int socket);

// For good, and for everybody who has the socket. What waits at a TCP socket is reset; at a UNIX
// socket it is still there to be accepted.
void ShutDown(int socket);

}  // namespace ringdeal
