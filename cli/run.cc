#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/installation.h"

namespace ringdeal {
namespace {

// Behind what is there already: a sanitizer's library insists on being first, and another
// interposer then finds the shim as what is next.
std::string PreloadList(const std::string& library) {
  const char* before = std::getenv(kPreloadVariable);
  if (before == nullptr || *before == '\0') return library;
  const std::string list = before;
  if ((":" + list + ":").find(":" + library + ":") != std::string::npos) return list;
  return list + ":" + library;
}

void SetEnvironment(const RunOptions& options, const std::string& library) {
  setenv(kPreloadVariable, PreloadList(library).c_str(), 1);
  if (!options.control.empty()) setenv("RINGDEAL_CONTROL", options.control.c_str(), 1);
  if (!options.cpus.empty()) setenv("RINGDEAL_CPUS", options.cpus.c_str(), 1);
  if (options.weight != 1) setenv("RINGDEAL_WEIGHT", std::to_string(options.weight).c_str(), 1);
  if (options.require) setenv("RINGDEAL_REQUIRE", "1", 1);
}

}  // namespace

int RunTarget(const RunOptions& options) {
  const std::string library = FindPreloadLibrary();
  if (library.empty()) {
    std::fprintf(stderr,
                 "ringdeal run: cannot find %s; RINGDEAL_PRELOAD_LIBRARY can say where it is\n",
                 kPreloadLibraryName);
    return kExitSystem;
  }
  // The loader splits the list at colons and spaces and has no way to quote them.
  if (library.find_first_of(": ") != std::string::npos) {
    std::fprintf(stderr, "ringdeal run: the loader takes no path with a colon or a space: %s\n",
                 library.c_str());
    return kExitSystem;
  }
  SetEnvironment(options, library);

  std::vector<char*> arguments;
  for (const std::string& argument : options.command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  std::fprintf(stderr, "ringdeal run: cannot run %s: %s\n", arguments[0], std::strerror(error));
  return error == ENOENT ? kExitNotFound : kExitNotExecutable;
}

}  // namespace ringdeal
