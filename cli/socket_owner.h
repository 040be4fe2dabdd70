// Which socket is at the server's end of a connection, and which are its listeners: asked of the
// kernel, without the server's cooperation. Only sockets of this machine and, on Linux, of this
// network namespace can be found. Main thread.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/result.h"
#include "protocol/socket_address.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

// A number that the kernel also shows at each descriptor of the socket: its inode on Linux. 0: the
// socket is in an accept queue, no descriptor exists.
using SocketId = uint64_t;

class SocketOwner {
 public:
  // The error is why the kernel cannot be asked.
  static Result<SocketOwner> Open();

  SocketOwner() = default;

  // The server's end of a connected stream socket of this process. ENOENT if the kernel knows no
  // such socket: closed, or on another machine or in another network namespace.
  Result<SocketId> ServerEndOf(int client);

  // The listening sockets that a connection to `served`, the peer address of a client, comes to:
  // those of this very address, else those of the wildcard address.
  std::vector<SocketId> ListenersOf(const SocketAddress& served);

 private:
  explicit SocketOwner(UniqueFd kernel) : kernel_(std::move(kernel)) {}

  UniqueFd kernel_;  // Linux: a netlink socket; not used elsewhere
};

}  // namespace ringdeal
