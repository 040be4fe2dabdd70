// What the rings are called. Constant.
#pragma once

#include <array>

namespace ringdeal {

// Nearest first: each is the smallest thing that has both CPUs.
inline constexpr std::array<const char*, 5> kRingNames = {"CPU", "core", "cache", "package",
                                                          "machine"};

}  // namespace ringdeal
