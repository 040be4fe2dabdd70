#include "cli/http_answer.h"

#include <strings.h>

#include <charconv>
#include <limits>

namespace ringdeal {
namespace {

constexpr size_t kMaxAnswerBytes = 64 * 1024;
constexpr std::string_view kWhiteSpace = " \t\r\n";

std::string_view Trimmed(std::string_view text) {
  const size_t start = text.find_first_not_of(kWhiteSpace);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(kWhiteSpace) - start + 1);
}

// The whole of `text` as a number.
std::optional<size_t> Number(std::string_view text, int base) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The value of a header in `head`, which ends with a line end; empty if there is none.
std::string_view Header(std::string_view head, std::string_view name) {
  for (size_t at = head.find("\r\n"); at + 2 < head.size(); at = head.find("\r\n", at + 2)) {
    const std::string_view line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
    if (line.size() > name.size() && line[name.size()] == ':' &&
        strncasecmp(line.data(), name.data(), name.size()) == 0) {
      return Trimmed(line.substr(name.size() + 1));
    }
  }
  return {};
}

// Appends the chunks that are there; true if the last one is.
bool JoinChunks(std::string_view rest, std::string* body) {
  for (;;) {
    const size_t line_end = rest.find("\r\n");
    if (line_end == std::string_view::npos) return false;
    const std::string_view size_text = rest.substr(0, std::min(rest.find(';'), line_end));
    const auto size = Number(Trimmed(size_text), 16);
    if (!size || *size == 0) return true;
    if (*size > kMaxAnswerBytes || rest.size() < line_end + 2 + *size + 2) return false;
    body->append(rest.substr(line_end + 2, *size));
    rest.remove_prefix(line_end + 2 + *size + 2);
  }
}

}  // namespace

void HttpAnswer::Add(std::string_view bytes) {
  if (whole_) return;
  bytes_.append(bytes);
  Parse();
  if (bytes_.size() > kMaxAnswerBytes) whole_ = true;
}

void HttpAnswer::End() { whole_ = true; }

void HttpAnswer::Parse() {
  const size_t head_end = bytes_.find("\r\n\r\n");
  if (head_end == std::string::npos) return;
  const std::string_view head = std::string_view(bytes_).substr(0, head_end + 2);
  const std::string_view rest = std::string_view(bytes_).substr(head_end + 4);
  success_ = head.starts_with("HTTP/1.") && head.substr(8, 5).starts_with(" 200");
  body_.clear();
  if (Header(head, "Transfer-Encoding") == "chunked") {
    whole_ = JoinChunks(rest, &body_);
    return;
  }
  const auto length = Number(Header(head, "Content-Length"), 10);
  body_ = rest.substr(0, length.value_or(rest.size()));
  whole_ = length && rest.size() >= *length;
}

std::optional<pid_t> HttpAnswer::NamedProcess() const {
  const auto number = Number(Trimmed(body_), 10);
  if (!success_ || !whole_ || !number || *number == 0) return std::nullopt;
  if (*number > static_cast<size_t>(std::numeric_limits<pid_t>::max())) return std::nullopt;
  return static_cast<pid_t>(*number);
}

}  // namespace ringdeal
