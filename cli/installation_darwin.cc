#include <climits>
#include <cstdint>
#include <cstdlib>

#include <mach-o/dyld.h>

#include "cli/installation.h"

namespace ringdeal {

const char* const kPreloadVariable = "DYLD_INSERT_LIBRARIES";
const char* const kPreloadLibraryName = "libringdeal-preload.dylib";

std::string BinaryDirectory() {
  char path[PATH_MAX];
  char resolved[PATH_MAX];
  uint32_t size = sizeof(path);
  if (_NSGetExecutablePath(path, &size) != 0 || realpath(path, resolved) == nullptr) return {};
  const std::string whole(resolved);
  return whole.substr(0, whole.rfind('/'));
}

}  // namespace ringdeal
