// ringdeald: owns listeners, accepts, and hands each connection to the worker that should have it.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/dealing/policy.h"
#include "daemon/dealing/topology.h"
#include "daemon/operating/config_parser.h"
#include "daemon/operating/daemon.h"
#include "daemon/operating/exit_codes.h"
#include "daemon/operating/inherited_sockets.h"
#include "daemon/operating/log.h"
#include "daemon/operating/options.h"
#include "daemon/operating/process_limits.h"
#include "daemon/simulating/simulation_json.h"

namespace {

using namespace ringdeal;

int Fail(int code, const std::string& text) {
  std::fprintf(stderr, "ringdeald: %s\n", text.c_str());
  return code;
}

std::vector<std::string> ListenerNames(const Config& config) {
  std::vector<std::string> names;
  for (const ListenerConfig& listener : config.listeners) names.push_back(listener.name);
  return names;
}

int AnswerSimulation() {
  const auto request = ParseSimulationRequest(std::string(std::istreambuf_iterator(std::cin), {}));
  if (!request) return Fail(kExitUsage, "simulation: " + request.error());
  const auto topology = Topology::Read(request->topology);
  if (!topology) return Fail(kExitUsage, "simulation: topology: " + topology.error());
  if (const auto cpu = MissingCpu(*topology, *request)) {
    return Fail(kExitUsage, "simulation: the topology has no CPU " + std::to_string(*cpu));
  }
  const SimulationResult result = Simulate(*topology, *request);
  std::fputs(SimulationAsJson(*request, result).c_str(), stdout);
  return kExitOk;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = ParseOptions(argc, argv);
  if (!options) {
    std::fputs(options.error().text.c_str(), options.error().code == kExitOk ? stdout : stderr);
    return options.error().code;
  }
  if (options->simulate) return AnswerSimulation();
  const auto missing = options->config_named ? MissingFile::kIsError : MissingFile::kMeansDefaults;
  const auto config = LoadConfig(options->config_path, missing, PolicyNames());
  if (!config) return Fail(kExitBadConfig, config.error().text);
  auto topology = Topology::Read(config->topology);
  if (!topology && !config->topology.empty()) {
    return Fail(kExitBadConfig, "topology: " + topology.error());
  }
  if (options->check) {
    std::fputs(DescribeConfig(*config).c_str(), stdout);
    return kExitOk;
  }
  StartLog(config->log);
  RaiseDescriptorLimit();
  if (!topology) Log(LogLevel::kWarn, "topology_unknown", {{"reason", topology.error()}});
  Daemon daemon(*config, {options->config_path, missing},
                std::make_shared<const Topology>(topology ? std::move(*topology) : Topology()));
  const auto started = daemon.Start(TakeInheritedSockets(ListenerNames(*config)));
  if (!started) return Fail(kExitSystem, started.error());
  daemon.Run();
  if (daemon.HasStuckThread()) _exit(kExitOk);
  return kExitOk;
}
