#include <cstdio>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/control_client.h"
#include "cli/exit_codes.h"
#include "protocol/control_messages.h"

namespace ringdeal {

int SetDraining(const DrainOptions& options) {
  nlohmann::json request = {{"op", options.undrain ? op::kUndrain : op::kDrain},
                            {"listener", options.listener}};
  if (options.pid) request["pid"] = *options.pid;
  if (options.slot) request["slot"] = *options.slot;
  // A name that is no UTF-8 becomes one that ringdeald does not know.
  const std::string line = request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto answer = AskDaemon(options.control, line);
  if (answer) return kExitOk;
  std::fprintf(stderr, "ringdeal: %s\n", answer.error().text.c_str());
  return answer.error().refused ? kExitRefused : kExitSystem;
}

}  // namespace ringdeal
