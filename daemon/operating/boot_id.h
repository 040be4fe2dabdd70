// Names the run of the kernel: another one after each boot. Any thread.
#pragma once

#include <string>

namespace ringdeal {

// Empty where the kernel does not say.
std::string BootId();

}  // namespace ringdeal
