// What must hold for every input. Any thread.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace ringdeal {

// Ends the process if `holds` is false, so that the fuzzer keeps the input.
inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace ringdeal
