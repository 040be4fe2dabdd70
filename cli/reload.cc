#include <cstdio>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/control_client.h"
#include "cli/exit_codes.h"
#include "cli/printable.h"

namespace ringdeal {

int ReloadConfiguration(const ReloadOptions& options) {
  const auto answer = AskDaemon(options.control, R"({"op":"reload"})");
  if (!answer) {
    std::fprintf(stderr, "ringdeal reload: %s\n", Printable(answer.error().text).c_str());
    return answer.error().refused ? kExitRefused : kExitSystem;
  }
  const auto said = nlohmann::json::parse(answer->line, nullptr, /*allow_exceptions=*/false);
  const auto changes = said.find("changes");
  if (changes == said.end() || !changes->is_string()) return kExitOk;
  std::printf("%s\n", Printable(changes->get<std::string>()).c_str());
  return kExitOk;
}

}  // namespace ringdeal
