#include "protocol/control_messages.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ringdeal {
namespace {

bool IsPlainText(const char* text) {
  for (const char* c = text; *c != '\0'; ++c) {
    if (static_cast<unsigned char>(*c) < 0x20 || *c == '"' || *c == '\\') return false;
  }
  return true;
}

// Appends to a line of bounded size; once something does not fit, nothing more is written.
class Line {
 public:
  Line(char* out, size_t size) : out_(out), size_(size) {}

  __attribute__((format(printf, 2, 3))) void Add(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int written = std::vsnprintf(out_ + length_, size_ - length_, format, arguments);
    va_end(arguments);
    if (written < 0 || static_cast<size_t>(written) >= size_ - length_) fits_ = false;
    if (fits_) length_ += static_cast<size_t>(written);
  }

  void AddText(const char* key, const char* value) {
    if (value == nullptr) return;
    if (!IsPlainText(value)) fits_ = false;
    if (fits_) Add(",\"%s\":\"%s\"", key, value);
  }

  void AddTrue(const char* key, bool value) {
    if (value && fits_) Add(",\"%s\":true", key);
  }

  size_t End() {
    if (fits_) Add("}\n");
    return fits_ ? length_ : 0;
  }

 private:
  char* out_;
  size_t size_;
  size_t length_ = 0;
  bool fits_ = true;
};

}  // namespace

size_t FormatBindRequest(char* out, size_t size, const char* address) {
  Line line(out, size);
  line.Add("{\"op\":\"%s\",\"version\":%d", op::kBind, kProtocolVersion);
  line.AddText("address", address);
  return line.End();
}

size_t FormatRegisterRequest(char* out, size_t size, const RegisterRequest& request) {
  Line line(out, size);
  line.Add("{\"op\":\"%s\",\"version\":%d,\"weight\":%u", op::kRegister, kProtocolVersion,
           request.weight);
  line.AddText("listener", request.listener);
  line.AddText("address", request.address);
  line.AddText("cpus", request.cpus);
  line.AddTrue("observer", request.observer);
  line.AddTrue("forked", request.forked);
  line.AddTrue("one_at_a_time", request.one_at_a_time);
  line.AddTrue("direct", request.direct);
  line.AddTrue("passes_listener", request.passes_listener);
  line.AddTrue("passes_pidfd", request.passes_pidfd);
  return line.End();
}

bool MakeControlAddress(const char* path, bool abstract, sockaddr_un* address, socklen_t* length) {
  const size_t path_length = std::strlen(path);
  *address = {};
  address->sun_family = AF_UNIX;
  if (path_length == 0 || path_length + 1 > sizeof(address->sun_path)) return false;
  // An abstract name starts with a zero byte and is not terminated.
  std::memcpy(address->sun_path + (abstract ? 1 : 0), path, path_length);
  *length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_length + 1);
  return true;
}

bool DefaultControlPath(char* out, size_t size) {
  const char* directory = geteuid() == 0 ? "/run" : std::getenv("XDG_RUNTIME_DIR");
  if (directory == nullptr || directory[0] != '/') return false;
  const int length = std::snprintf(out, size, "%s/ringdeal/control.sock", directory);
  return length > 0 && static_cast<size_t>(length) < size;
}

}  // namespace ringdeal
