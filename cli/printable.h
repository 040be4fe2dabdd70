// Text of others on a terminal. Pure.
#pragma once

#include <string>
#include <string_view>

namespace ringdeal {

// `text`, which is UTF-8, with '?' for each control character: addresses and names come from other
// programs, and must neither steer the terminal nor look like lines of ours.
std::string Printable(std::string_view text);

}  // namespace ringdeal
