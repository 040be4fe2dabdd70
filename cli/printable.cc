#include "cli/printable.h"

#include <cstddef>

namespace ringdeal {
namespace {

bool IsControl(unsigned char byte) { return byte < 0x20 || byte == 0x7f; }

// U+0080 to U+009F, which some terminals obey as they do an escape.
bool IsLongControl(std::string_view rest) {
  return rest.size() > 1 && rest[0] == '\xc2' && static_cast<unsigned char>(rest[1]) < 0xa0;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string shown;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsLongControl(text.substr(i))) {
      shown += '?';
      ++i;
    } else {
      shown += IsControl(static_cast<unsigned char>(text[i])) ? '?' : text[i];
    }
  }
  return shown;
}

}  // namespace ringdeal
