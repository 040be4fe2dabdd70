#include "protocol/socket_address.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "protocol/system_calls.h"

namespace ringdeal {
namespace {

constexpr char kUnixPrefix[] = "unix:";
constexpr size_t kUnixPrefixLength = sizeof(kUnixPrefix) - 1;

bool ParsePort(const char* text, in_port_t* port) {
  if (*text < '0' || *text > '9') return false;
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*end != '\0' || value > 65535) return false;
  *port = htons(static_cast<in_port_t>(value));
  return true;
}

bool ParseUnix(const char* name, SocketAddress* address) {
  auto* target = reinterpret_cast<sockaddr_un*>(&address->storage);
  const size_t length = std::strlen(name);
  if (length == 0 || length + 1 > sizeof(target->sun_path)) return false;
  const bool abstract = name[0] == '@';
  target->sun_family = AF_UNIX;
  std::memcpy(target->sun_path, name, length);
  if (abstract) target->sun_path[0] = '\0';
  address->length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length + (abstract ? 0 : 1));
  return true;
}

bool ParseIpv6(const char* host, const char* end, SocketAddress* address) {
  auto* target = reinterpret_cast<sockaddr_in6*>(&address->storage);
  char text[INET6_ADDRSTRLEN];
  const size_t length = static_cast<size_t>(end - host);
  if (length >= sizeof(text) || end[1] != ':') return false;
  std::memcpy(text, host, length);
  text[length] = '\0';
  target->sin6_family = AF_INET6;
  address->length = sizeof(*target);
  return inet_pton(AF_INET6, text, &target->sin6_addr) == 1 &&
         ParsePort(end + 2, &target->sin6_port);
}

bool ParseIpv4(const char* host, const char* colon, SocketAddress* address) {
  auto* target = reinterpret_cast<sockaddr_in*>(&address->storage);
  char text[INET_ADDRSTRLEN];
  const size_t length = static_cast<size_t>(colon - host);
  if (length == 0 || length >= sizeof(text)) return false;
  std::memcpy(text, host, length);
  text[length] = '\0';
  target->sin_family = AF_INET;
  address->length = sizeof(*target);
  if (!ParsePort(colon + 1, &target->sin_port)) return false;
  if (std::strcmp(text, "*") == 0) return true;  // INADDR_ANY is zero
  return inet_pton(AF_INET, text, &target->sin_addr) == 1;
}

bool FormatUnix(const SocketAddress& address, char* out, size_t size) {
  const auto* source = reinterpret_cast<const sockaddr_un*>(&address.storage);
  const size_t head = offsetof(sockaddr_un, sun_path);
  const int bytes = address.length > head ? static_cast<int>(address.length - head) : 0;
  if (bytes == 0) return std::snprintf(out, size, "unix:") < static_cast<int>(size);
  const bool abstract = source->sun_path[0] == '\0';
  // A text that ended at a zero byte would be that of another abstract name.
  if (abstract && std::memchr(source->sun_path + 1, 0, bytes - 1) != nullptr) return false;
  const int written = abstract
                          ? std::snprintf(out, size, "unix:@%.*s", bytes - 1, source->sun_path + 1)
                          : std::snprintf(out, size, "unix:%.*s", bytes, source->sun_path);
  return written < static_cast<int>(size);
}

}  // namespace

bool ParseAddress(const char* text, SocketAddress* address) {
  *address = {};
  if (std::strncmp(text, kUnixPrefix, kUnixPrefixLength) == 0) {
    return ParseUnix(text + kUnixPrefixLength, address);
  }
  if (text[0] == '[') {
    const char* end = std::strchr(text, ']');
    return end != nullptr && ParseIpv6(text + 1, end, address);
  }
  const char* colon = std::strrchr(text, ':');
  return colon != nullptr && ParseIpv4(text, colon, address);
}

bool FormatAddress(const SocketAddress& address, char* out, size_t size) {
  char host[INET6_ADDRSTRLEN] = "";
  if (address.family() == AF_UNIX) return FormatUnix(address, out, size);
  if (address.family() == AF_INET) {
    const auto* source = reinterpret_cast<const sockaddr_in*>(&address.storage);
    inet_ntop(AF_INET, &source->sin_addr, host, sizeof(host));
    return std::snprintf(out, size, "%s:%u", host, ntohs(source->sin_port)) <
           static_cast<int>(size);
  }
  if (address.family() != AF_INET6) return false;
  const auto* source = reinterpret_cast<const sockaddr_in6*>(&address.storage);
  const unsigned port = ntohs(source->sin6_port);
  if (IN6_IS_ADDR_V4MAPPED(&source->sin6_addr)) {
    inet_ntop(AF_INET, &source->sin6_addr.s6_addr[12], host, sizeof(host));
    return std::snprintf(out, size, "%s:%u", host, port) < static_cast<int>(size);
  }
  inet_ntop(AF_INET6, &source->sin6_addr, host, sizeof(host));
  return std::snprintf(out, size, "[%s]:%u", host, port) < static_cast<int>(size);
}

bool LocalAddressOf(int socket, SocketAddress* address) {
  address->length = sizeof(address->storage);
  return sys::GetSocketName(socket, address->get(), &address->length) == 0;
}

}  // namespace ringdeal
