// Addresses as text and back: "127.0.0.1:8080", "[::1]:8080", "unix:/run/app.sock", "unix:@name".
// Any thread.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace ringdeal {

inline constexpr size_t kMaxAddressText = 128;  // "unix:" and sun_path, with the end

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

// "*:80" is "0.0.0.0:80". Host names are not looked up. Returns false if `text` is no address.
bool ParseAddress(const char* text, SocketAddress* address);

// Writes the text form, at most kMaxAddressText bytes with its end. A v4-mapped IPv6 address is
// written as the IPv4 address that it maps. Returns false if the family is unknown or
// an abstract name holds a zero byte.
bool FormatAddress(const SocketAddress& address, char* out, size_t size);

// The name of the socket, from the kernel.
bool LocalAddressOf(int socket, SocketAddress* address);

}  // namespace ringdeal
