#include <unistd.h>

#include <climits>

#include "cli/installation.h"

namespace ringdeal {

const char* const kPreloadVariable = "LD_PRELOAD";
const char* const kPreloadLibraryName = "libringdeal-preload.so";

std::string BinaryDirectory() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0) return {};
  const std::string whole(path, static_cast<size_t>(length));
  return whole.substr(0, whole.rfind('/'));
}

}  // namespace ringdeal
