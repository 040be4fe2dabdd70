#include "cli/installation.h"

#include <unistd.h>

#include <cstdlib>
#include <initializer_list>

namespace ringdeal {
namespace {

std::string FirstBesideBinary(std::initializer_list<const char*> folders, const std::string& name,
                              int access_mode) {
  const std::string directory = BinaryDirectory();
  if (directory.empty()) return {};
  for (const char* folder : folders) {
    std::string candidate = directory + "/" + folder + "/" + name;
    if (access(candidate.c_str(), access_mode) != 0) continue;
    // Without the "..", so that the name stays right when a target program changes its root.
    char* resolved = realpath(candidate.c_str(), nullptr);
    if (resolved != nullptr) candidate = resolved;
    std::free(resolved);
    return candidate;
  }
  return {};
}

}  // namespace

std::string FindPreloadLibrary() {
  if (const char* chosen = std::getenv("RINGDEAL_PRELOAD_LIBRARY"); chosen != nullptr) {
    return access(chosen, R_OK) == 0 ? chosen : "";
  }
  // The last is the build tree's.
  return FirstBesideBinary({"../" RINGDEAL_LIBDIR "/ringdeal", "../lib/ringdeal", "../client-shim"},
                           kPreloadLibraryName, R_OK);
}

std::string FindDaemon() {
  std::string found = FirstBesideBinary({".", "../sbin", "../daemon"}, "ringdeald", X_OK);
  return found.empty() ? "ringdeald" : found;
}

}  // namespace ringdeal
