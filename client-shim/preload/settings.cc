#include "client-shim/preload/settings.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "protocol/control_messages.h"
#include "protocol/system_calls.h"

namespace ringdeal::shim {
namespace {

bool IsOn(const char* name) {
  const char* value = secure_getenv(name);
  return value != nullptr && value[0] != '\0' && std::strcmp(value, "0") != 0;
}

template <size_t Size>
bool Copy(const char* name, char (&target)[Size]) {
  const char* value = secure_getenv(name);
  if (value == nullptr || value[0] == '\0' || std::strlen(value) >= Size) return false;
  std::strcpy(target, value);
  return true;
}

void ReadWeight() {
  const char* value = secure_getenv("RINGDEAL_WEIGHT");
  if (value == nullptr || value[0] == '\0') return;
  char* end = nullptr;
  const unsigned long weight = std::strtoul(value, &end, 10);
  const bool is_number = value[0] >= '0' && value[0] <= '9' && *end == '\0';
  if (is_number && weight >= 1 && weight <= kMostWeight) {
    settings.weight = static_cast<unsigned>(weight);
  } else {
    std::snprintf(settings.no_weight, sizeof(settings.no_weight), "%s", value);
  }
}

// Neither waits for a full pipe nor is killed by one that nobody reads.
bool CanWrite(int number) {
  pollfd watched = {number, POLLOUT, 0};
  return sys::Poll(&watched, 1, 0) == 1 && watched.revents == POLLOUT;
}

}  // namespace

constinit Settings settings;

void ReadEnvironment() {
  if (IsOn("RINGDEAL_DISABLE")) return;
  char text[16] = "";
  settings.require = IsOn("RINGDEAL_REQUIRE");
  // Closed at the start, its number will be some file of the program's.
  const bool has_stderr = sys::Control(STDERR_FILENO, F_GETFD, 0) >= 0;
  settings.silent = !has_stderr || (Copy("RINGDEAL_LOG", text) && std::strcmp(text, "off") == 0);
  ReadWeight();
  Copy("RINGDEAL_LISTENERS", settings.listeners);
  Copy("RINGDEAL_CPUS", settings.cpus);
  settings.enabled = Copy("RINGDEAL_CONTROL", settings.control) ||
                     DefaultControlPath(settings.control, sizeof(settings.control));
}

bool IsMeant(const char* address) {
  if (settings.listeners[0] == '\0') return true;
  const size_t length = std::strlen(address);
  for (const char* item = settings.listeners; *item != '\0';) {
    const size_t size = strcspn(item, ",");
    const bool whole = size == length && std::strncmp(item, address, size) == 0;
    const bool by_port =
        item[0] == ':' && size < length && std::strncmp(item, address + length - size, size) == 0;
    if (whole || by_port) return true;
    item += size;
    if (*item == ',') ++item;
  }
  return false;
}

void Say(const char* format, ...) {
  if (settings.silent) return;
  const int saved_errno = errno;
  char line[512] = "ringdeal: ";
  constexpr size_t kHead = 10;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + kHead, sizeof(line) - kHead - 1, format, arguments);
  va_end(arguments);
  const size_t length = std::strlen(line);
  line[length] = '\n';
  if (CanWrite(STDERR_FILENO)) (void)!write(STDERR_FILENO, line, length + 1);
  errno = saved_errno;
}

}  // namespace ringdeal::shim
