// How a program was linked, read from its ELF file. Linux only. Main thread.
#pragma once

#include <optional>
#include <string>

#include "cli/process_facts.h"

namespace ringdeal {

// nullopt if the file cannot be read or is of another kind.
std::optional<Linkage> LinkageOf(const std::string& path);

}  // namespace ringdeal
