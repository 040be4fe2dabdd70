// Names that come from outside, such as a socket's path, are any bytes; what we render is UTF-8.
// Any thread.
#pragma once

#include <string>
#include <string_view>

namespace ringdeal {

// `text` with each byte that is not part of well-formed UTF-8 replaced by U+FFFD.
std::string ToUtf8(std::string_view text);

}  // namespace ringdeal
