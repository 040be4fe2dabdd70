#include "daemon/operating/options.h"

#include <unistd.h>

#include <cstdlib>

#include <CLI/CLI.hpp>

#include "daemon/operating/exit_codes.h"
#include "daemon/operating/service_manager.h"

namespace ringdeal {
namespace {

std::string ExitCodes() {
  return "Exit codes: " + std::to_string(kExitOk) + " ended as asked, " +
         std::to_string(kExitUsage) + " wrong command line, " + std::to_string(kExitBadConfig) +
         " wrong configuration, " + std::to_string(kExitSystem) +
         " the system refused something at start.";
}

std::string Version() {
  return std::string("ringdeald " RINGDEAL_VERSION "\n") + LibraryVersions() + "\n";
}

Result<Options, EarlyExit> Parse(int argc, const char* const* argv) {
  Options options;
  CLI::App app("Hands accepted connections to the worker that should have them.", "ringdeald");
  const std::string usual = DefaultConfigPath();
  const std::string help =
      "Configuration; default: " + (usual.empty() ? "none" : usual + ", which need not exist");
  auto* config = app.add_option("--config", options.config_path, help)->type_name("FILE");
  app.add_flag("--check", options.check, "Read the configuration, say whether it is good, end");
  app.add_flag("--simulate", options.simulate)->group("");
  app.set_version_flag("--version", Version());
  app.footer(ExitCodes());
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return EarlyExit{kExitOk, app.help()};
  } catch (const CLI::CallForVersion& version) {
    return EarlyExit{kExitOk, version.what()};
  }
  options.config_named = config->count() > 0;
  if (!options.config_named) options.config_path = DefaultConfigPath();
  return options;
}

}  // namespace

Result<Options, EarlyExit> ParseOptions(int argc, const char* const* argv) {
  try {
    return Parse(argc, argv);
  } catch (const std::exception& exception) {
    return EarlyExit{kExitUsage,
                     std::string("ringdeald: ") + exception.what() + "; see ringdeald --help\n"};
  }
}

std::string DefaultConfigPath() {
  if (const std::string given = ServiceDirectory("CONFIGURATION_DIRECTORY"); !given.empty()) {
    return given + "/ringdeal.yaml";
  }
  if (geteuid() == 0) return "/etc/ringdeal/ringdeal.yaml";
  const char* directory = std::getenv("XDG_RUNTIME_DIR");
  if (directory == nullptr || directory[0] != '/') return {};
  return std::string(directory) + "/ringdeal/ringdeal.yaml";
}

std::string DescribeConfig(const Config& config) {
  std::string text = "ringdeald: ";
  text += config.source.empty() ? "no configuration file, all defaults" : config.source + ": good";
  text += "; listeners: " + std::to_string(config.listeners.size());
  text += config.adopt.enabled ? "; others are adopted\n" : "; no others are adopted\n";
  return text;
}

const char* LibraryVersions() { return RINGDEAL_LIBRARIES; }

}  // namespace ringdeal
