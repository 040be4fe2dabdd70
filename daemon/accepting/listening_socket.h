// Making, inheriting and repairing the sockets of listeners. Control thread, at start, at a
// reload and at registration.
#pragma once

#include <string>

#include "daemon/operating/config.h"
#include "protocol/result.h"
#include "protocol/socket_address.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

// One line for the operator: what failed, where, and what to do about it.
struct ListenError {
  std::string text;
  bool in_use = false;  // somebody has the address
};

// Binds and listens as the configuration says; non-blocking and close-on-exec. A UNIX path that
// exists is removed if it is a socket on which nobody listens, else it is an error.
Result<UniqueFd, ListenError> OpenListeningSocket(const ListenerConfig& config);

// Gives the path of a UNIX socket the mode, owner and group that the configuration says; an owner
// or group that it does not name stays.
Result<void, ListenError> SetPathOwner(const ListenerConfig& config);

// Takes over a listening socket that came from a service manager.
Result<UniqueFd, ListenError> AdoptInheritedSocket(int descriptor, const ListenerConfig& config);

// Whether a socket that an earlier ringdeald opened is what OpenListeningSocket would make now: it
// has the address, and a path is still its own.
bool IsAsConfigured(int socket, const ListenerConfig& config);

// Takes over such a socket. Mode and owner of a path, and the backlog, are made what they should
// be.
Result<UniqueFd, ListenError> TakeBackSocket(int descriptor, const ListenerConfig& config);

// Makes a socket listen again that somebody shut down: where the port was chosen by the kernel, a
// shutdown gives it up, so it is bound to `address` first. Acceptor thread.
Result<void> ListenAgain(int socket, const SocketAddress& address, int backlog);

// SO_REUSEPORT sockets of one user, as the kernel requires it of those that share a port. REQUIRES:
// equal addresses, which alone say nothing: a UNIX path may be relative, or of another root
// directory, and who opened the door is not who made the socket.
bool AreSiblings(int one, int other);

// The address that the kernel says the socket has, as text.
std::string LocalAddressText(int socket);

// What `bind` of a listener says, as the kernel says it.
std::string CanonicalAddress(const std::string& bind);

// True for the text form of a UNIX address that is a path.
bool IsPath(const std::string& address);

}  // namespace ringdeal
