#include <variant>

#include "cli/commands.h"
#include "cli/options.h"

namespace {

struct Execute {
  int operator()(const ringdeal::RunOptions& options) const { return RunTarget(options); }
  int operator()(const ringdeal::StatusOptions& options) const { return ShowStatus(options); }
  int operator()(const ringdeal::TopologyOptions& options) const { return ShowTopology(options); }
  int operator()(const ringdeal::TopOptions& options) const { return ShowTop(options); }
  int operator()(const ringdeal::DrainOptions& options) const { return SetDraining(options); }
  int operator()(const ringdeal::ReloadOptions& options) const {
    return ReloadConfiguration(options);
  }
  int operator()(const ringdeal::CheckOptions& options) const { return CheckFile(options); }
  int operator()(const ringdeal::SpreadOptions& options) const { return ShowSpread(options); }
  int operator()(const ringdeal::DoctorOptions& options) const { return Examine(options); }
  int operator()(const ringdeal::SimulateOptions& options) const { return SimulateDeal(options); }
};

}  // namespace

int main(int argc, char** argv) {
  const ringdeal::CommandLine line = ringdeal::ParseCommandLine(argc, argv);
  if (line.exit_code) return *line.exit_code;
  return std::visit(Execute{}, line.command);
}
