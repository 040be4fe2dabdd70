#include "client-shim/preload/options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <cstring>

#include "client-shim/preload/real_calls.h"

namespace ringdeal::shim {
namespace {

struct OptionName {
  int level;
  int name;
};

// What an accepted socket has from its listener, and can be given later as well.
constexpr OptionName kInherited[] = {
    {SOL_SOCKET, SO_KEEPALIVE},
    {SOL_SOCKET, SO_LINGER},
    {SOL_SOCKET, SO_RCVBUF},
    {SOL_SOCKET, SO_SNDBUF},
    {SOL_SOCKET, SO_RCVTIMEO},
    {SOL_SOCKET, SO_SNDTIMEO},
    {IPPROTO_TCP, TCP_NODELAY},
    {IPPROTO_TCP, TCP_KEEPIDLE},
    {IPPROTO_TCP, TCP_KEEPINTVL},
    {IPPROTO_TCP, TCP_KEEPCNT},
    {IPPROTO_TCP, TCP_QUICKACK},
    {IPPROTO_TCP, TCP_USER_TIMEOUT},
    {SOL_SOCKET, SO_MARK},
    {SOL_SOCKET, SO_RCVLOWAT},
    {SOL_SOCKET, SO_MAX_PACING_RATE},
    {IPPROTO_TCP, TCP_CONGESTION},
    {IPPROTO_TCP, TCP_NOTSENT_LOWAT},
    {IPPROTO_TCP, TCP_LINGER2},
    {IPPROTO_TCP, TCP_CORK},
    {IPPROTO_IP, IP_TOS},
    {IPPROTO_IP, IP_TTL},
    {IPPROTO_IPV6, IPV6_TCLASS},
    {IPPROTO_IPV6, IPV6_UNICAST_HOPS},
};

bool IsInherited(int level, int name) {
  for (const OptionName& option : kInherited) {
    if (option.level == level && option.name == name) return true;
  }
  return false;
}

// A name, answered with zeros behind it.
bool IsText(int level, int name) { return level == IPPROTO_TCP && name == TCP_CONGESTION; }

// Of these the kernel answers twice what was set.
bool IsDoubled(int level, int name) {
  return level == SOL_SOCKET && (name == SO_RCVBUF || name == SO_SNDBUF);
}

// Doubles the integer, or halves it.
void Scale(void* value, bool doubled) {
  int number = 0;
  std::memcpy(&number, value, sizeof(number));
  number = doubled ? number * 2 : number / 2;
  std::memcpy(value, &number, sizeof(number));
}

}  // namespace

OptionRecord::Option* OptionRecord::Newest(int level, int name) const {
  size_t count = count_.load(std::memory_order_acquire);
  if (count > kOptions) count = kOptions;
  for (size_t i = count; i-- > 0;) {
    Option& option = options_[i];
    if (option.ready.load(std::memory_order_acquire) && option.level == level &&
        option.name == name) {
      return &option;
    }
  }
  return nullptr;
}

void OptionRecord::Set(int level, int name, const void* value, socklen_t length) {
  if (length > kValueBytes || value == nullptr) return;
  unsigned char text[kValueBytes] = {};
  if (IsText(level, name)) {
    value = std::memcpy(text, value, length);
    length = sizeof(text);
  }
  Option* known = Newest(level, name);
  if (known != nullptr && known->length == length &&
      std::memcmp(known->value, value, length) == 0) {
    return;
  }
  const size_t place = count_.load() < kOptions ? count_.fetch_add(1) : kOptions;
  if (place >= kOptions) {
    if (known == nullptr || known->length != length) return;
    std::memcpy(known->value, value, length);  // full: over the old value
    return;
  }
  Option& option = options_[place];
  option.level = level;
  option.name = name;
  option.length = length;
  std::memcpy(option.value, value, length);
  option.ready.store(true, std::memory_order_release);
}

bool OptionRecord::Get(int level, int name, void* value, socklen_t* length) const {
  const Option* option = Newest(level, name);
  if (option == nullptr || value == nullptr || length == nullptr) return false;
  if (*length > option->length) *length = option->length;
  std::memcpy(value, option->value, *length);
  if (IsDoubled(level, name) && *length == sizeof(int)) Scale(value, true);
  return true;
}

void OptionRecord::SetWhereDifferent(int from, int to) {
  const int saved_errno = errno;
  for (const OptionName& option : kInherited) {
    unsigned char theirs[kValueBytes] = {};
    unsigned char ours[kValueBytes] = {};
    socklen_t length = sizeof(theirs);
    socklen_t ours_length = sizeof(ours);
    if (real::getsockopt(from, option.level, option.name, theirs, &length) != 0) continue;
    if (real::getsockopt(to, option.level, option.name, ours, &ours_length) != 0) continue;
    if (std::memcmp(theirs, ours, sizeof(theirs)) != 0) {
      if (IsDoubled(option.level, option.name)) Scale(theirs, false);
      Set(option.level, option.name, theirs, length);
    }
  }
  errno = saved_errno;
}

void OptionRecord::ApplyTo(int connection) const {
  const size_t count = count_.load(std::memory_order_acquire);
  if (count == 0) return;
  const int saved_errno = errno;
  for (size_t i = 0; i < count && i < kOptions; ++i) {
    const Option& option = options_[i];
    if (!option.ready.load(std::memory_order_acquire)) continue;
    if (!IsInherited(option.level, option.name)) continue;
    real::setsockopt(connection, option.level, option.name, option.value, option.length);
  }
  errno = saved_errno;
}

void OptionRecord::CopyFrom(const OptionRecord& other) {
  for (size_t i = 0; i < other.count_.load() && i < kOptions; ++i) {
    const Option& option = other.options_[i];
    Set(option.level, option.name, option.value, option.length);
  }
}

void OptionRecord::Clear() {
  for (Option& option : options_) option.ready.store(false);
  count_.store(0);
}

}  // namespace ringdeal::shim
