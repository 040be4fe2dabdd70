// Lists of CPUs as operators and the kernel write them: "0-3,8". Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"

namespace ringdeal {

// In ascending order, each once. The error is one line and repeats the text.
Result<std::vector<int>, std::string> ParseCpuList(std::string_view text);

// REQUIRES: ascending order, each once.
std::string FormatCpuList(std::span<const int> cpus);

}  // namespace ringdeal
