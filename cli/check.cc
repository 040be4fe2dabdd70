#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/installation.h"

namespace ringdeal {

int CheckFile(const CheckOptions& options) {
  const std::string daemon = FindDaemon();
  execlp(daemon.c_str(), "ringdeald", "--config", options.file.c_str(), "--check",
         static_cast<char*>(nullptr));
  std::fprintf(stderr, "ringdeal check: cannot run %s: %s\n", daemon.c_str(), std::strerror(errno));
  return kExitSystem;
}

}  // namespace ringdeal
