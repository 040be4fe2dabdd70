#include "cli/options.h"

#include <cstdio>
#include <string_view>

#include <CLI/CLI.hpp>

#include "cli/exit_codes.h"
#include "cli/top_frame.h"
#include "protocol/control_messages.h"

namespace ringdeal {
namespace {

constexpr unsigned kMaxConnections = 10000;
constexpr unsigned kMaxCopies = 1024;
constexpr double kMaxTimeoutSeconds = 600;

// Only for a name that the parser has checked.
SpreadShape ShapeOf(const std::string& name) {
  if (name == "ramp") return SpreadShape::kRamp;
  return name == "burst" ? SpreadShape::kBurst : SpreadShape::kOneByOne;
}

// What the parser writes into, before the chosen subcommand is known.
struct Targets {
  RunOptions run;
  StatusOptions status;
  TopologyOptions topology;
  TopOptions top;
  DrainOptions drain;
  DrainOptions undrain;
  ReloadOptions reload;
  CheckOptions check;
  SpreadOptions spread;
  DoctorOptions doctor;
  SimulateOptions simulate;
  std::string spread_shape = "burst";
  double spread_timeout = 5;
};

void AddControl(CLI::App* command, std::string* control) {
  command->add_option("--control", *control, "ringdeald's control socket")
      ->type_name("PATH")
      ->envname("RINGDEAL_CONTROL");
}

CLI::App* AddRun(CLI::App* app, RunOptions* run) {
  CLI::App* command = app->add_subcommand(
      "run", "Run a server under the shim: ringdeal run [OPTIONS] -- COMMAND [ARGUMENTS]");
  AddControl(command, &run->control);
  command->add_flag("--require", run->require, "Fail instead of serving without ringdeald");
  CLI::Option* cpus = command->add_option("--cpus", run->cpus, "CPUs that the workers belong to")
                          ->type_name("LIST");
  command->add_option("--weight", run->weight, "Share of each worker")
      ->check(CLI::Range(1U, kMostWeight));
  CLI::Option* workers =
      command
          ->add_option("--workers", run->workers,
                       "Run so many copies of a server that has one process; all bind one address "
                       "of ringdeald's")
          ->check(CLI::Range(1U, kMaxCopies));
  command->add_flag("--pin", run->pin, "Give each copy CPUs of its own")
      ->needs(workers)
      ->excludes(cpus);
  return command;
}

CLI::App* AddStatus(CLI::App* app, StatusOptions* status) {
  CLI::App* command = app->add_subcommand("status", "Show listeners and workers");
  AddControl(command, &status->control);
  command->add_flag("--json", status->json, "Print the status document");
  return command;
}

CLI::App* AddTopology(CLI::App* app, TopologyOptions* topology) {
  CLI::App* command = app->add_subcommand(
      "topology", "Show the machine's tree: where workers sit, and what CPUs receive for whom");
  AddControl(command, &topology->control);
  command->add_option("--listener", topology->listener, "Of this listener only")->type_name("NAME");
  command->add_flag("--json", topology->json, "Print this part of the status document");
  return command;
}

CLI::App* AddTop(CLI::App* app, TopOptions* top) {
  CLI::App* command = app->add_subcommand(
      "top",
      "Show the workers live. Keys: left and right or < and > change the column that sorts, r "
      "reverses, arrows and page keys scroll, q ends");
  AddControl(command, &top->control);
  command->add_option("--listener", top->listener, "Of this listener only")->type_name("NAME");
  const auto orders = TopOrders();
  command->add_option("--sort", top->sort, "By this column")
      ->transform(
          CLI::IsMember(std::vector<std::string>(orders.begin(), orders.end()), CLI::ignore_case))
      ->type_name("COLUMN");
  command->add_flag("--reverse", top->reverse, "The other way round");
  command->add_option("--interval", top->interval, "Seconds from look to look; default 1")
      ->check(CLI::Range(0.1, kMaxTimeoutSeconds));
  command->add_option("-n,--count", top->count, "End after so many looks");
  return command;
}

CLI::App* AddDrain(CLI::App* app, const char* name, const char* about, DrainOptions* drain) {
  CLI::App* command = app->add_subcommand(name, about);
  AddControl(command, &drain->control);
  command->add_option("--listener", drain->listener, "Name of the listener")->required();
  CLI::Option_group* which = command->add_option_group("worker");
  which->add_option("--pid", drain->pid, "The worker's process");
  which->add_option("--slot", drain->slot, "The worker's number");
  which->require_option(1);
  return command;
}

CLI::App* AddReload(CLI::App* app, ReloadOptions* reload) {
  CLI::App* command = app->add_subcommand(
      "reload", "Have ringdeald read its configuration again, and show what has changed");
  AddControl(command, &reload->control);
  return command;
}

CLI::App* AddCheck(CLI::App* app, CheckOptions* check) {
  CLI::App* command = app->add_subcommand("check", "Check a configuration file");
  command->add_option("file", check->file, "The file")->required();
  return command;
}

CLI::App* AddSpread(CLI::App* app, SpreadOptions* spread, std::string* shape, double* timeout) {
  CLI::App* command = app->add_subcommand(
      "spread", "Open connections to any server and show which process holds each");
  command->add_option("address", spread->address, "127.0.0.1:8080, [::1]:8080 or unix:/path")
      ->required();
  command->add_option("-n,--connections", spread->connections, "How many")
      ->check(CLI::Range(1U, kMaxConnections));
  command
      ->add_option("--shape", *shape,
                   "burst: all at once; ramp: one every 10 ms, all kept; one-by-one: open, ask, "
                   "close, next")
      ->check(CLI::IsMember({"burst", "ramp", "one-by-one"}))
      ->type_name("SHAPE");
  CLI::Option* path =
      command->add_option("--path", spread->path,
                          "Request this path and believe the number in the answer's body: the "
                          "server names the process itself");
  command
      ->add_flag("--silent", spread->silent,
                 "Send nothing; wait until a process holds the connection (servers that speak no "
                 "HTTP, or close after each answer)")
      ->excludes(path);
  command
      ->add_option("--workers-of", spread->workers_of,
                   "The workers are the children of this process (default: the processes that "
                   "hold the listening socket and have no such descendant)")
      ->type_name("PID");
  command->add_option("--timeout", *timeout, "Seconds that each connection is waited for")
      ->check(CLI::Range(0.01, kMaxTimeoutSeconds));
  command->add_flag("--json", spread->json, "Print one JSON object");
  return command;
}

CLI::App* AddDoctor(CLI::App* app, DoctorOptions* doctor) {
  CLI::App* command =
      app->add_subcommand("doctor", "Say why a server is dealt connections, or is not");
  command
      ->add_option("target", doctor->target,
                   "A process number, or the address where a server listens")
      ->required()
      ->type_name("PID|ADDRESS");
  AddControl(command, &doctor->control);
  command->add_flag("--json", doctor->json, "Print one JSON object");
  return command;
}

void AddSimulatedMachine(CLI::App* command, SimulateOptions* simulate) {
  command
      ->add_option("--profile", simulate->profile,
                   "A known machine with its receiving CPUs and workers; what is given beside it "
                   "goes before: e5-2470v2, e5-2470v2-16rx, ryzen-5950x")
      ->type_name("NAME");
  command
      ->add_option("--topology", simulate->topology,
                   "An XML file of hwloc's or \"synthetic:pack:2 l3:1 core:8 pu:2\" (default: "
                   "this machine)")
      ->type_name("SOURCE");
  command->add_option("--receive", simulate->receive, "CPUs that receive, each with this weight")
      ->type_name("LIST[:WEIGHT]");
  command->add_option("--pinned", simulate->pinned, "One worker on each of these CPUs")
      ->type_name("LIST[:WEIGHT]");
  command->add_option("--on", simulate->on, "One worker on all of these CPUs together")
      ->type_name("LIST[:WEIGHT]");
  command->add_option("--unplaced", simulate->unplaced, "So many workers that are nowhere")
      ->type_name("N[:WEIGHT]");
  command->add_flag("--set", simulate->set,
                    "The operator set where the workers are: exact-claim then asks no gate");
}

CLI::App* AddSimulate(CLI::App* app, SimulateOptions* simulate) {
  CLI::App* command = app->add_subcommand(
      "simulate", "Deal connections in virtual time and show how near and how evenly");
  AddSimulatedMachine(command, simulate);
  command
      ->add_option("--policy", simulate->policies,
                   "ring-deal, least-loaded, round-robin, exact-claim or hash; several by commas")
      ->delimiter(',')
      ->type_name("NAMES");
  command->add_option("--slack", simulate->slack, "Of the guard, in connections");
  command->add_option("--slack-percent", simulate->slack_percent, "Of the guard, of the mean load");
  command->add_option("--coverage", simulate->coverage, "When exact-claim claims: any or all")
      ->check(CLI::IsMember({"any", "all"}));
  command
      ->add_option("--holding", simulate->holding,
                   "How long connections live: constant, exponential or pareto")
      ->check(CLI::IsMember({"constant", "exponential", "pareto"}));
  command->add_option("--mean-holding", simulate->mean_holding, "Seconds; default 1");
  command->add_option("--pareto-shape", simulate->pareto_shape, "Above 1; default 1.5");
  command->add_option("--mean-active", simulate->mean_active,
                      "Connections that a worker has open on average; default 100");
  command->add_option("--arrival-rate", simulate->arrival_rate,
                      "Connections a second in all, in place of --mean-active");
  command->add_option("-n,--connections", simulate->connections, "How many arrive");
  command->add_option("--seed", simulate->seed, "Of all that is random");
  command->add_flag("--json", simulate->json,
                    "Print one JSON object for each policy, each in a line");
  command->add_option("--plot", simulate->plot, "Draw the result too")->type_name("FILE.svg");
  return command;
}

CommandLine Ended(int exit_code) {
  CommandLine line;
  line.exit_code = exit_code;
  return line;
}

CommandLine UsageError(const char* what) {
  std::fprintf(stderr, "ringdeal: %s\n", what);
  return Ended(kExitUsage);
}

// Everything after the first "--" is the target program's and never read as options of ours.
std::vector<std::string> TakeCommand(int* argc, char** argv) {
  for (int i = 1; i < *argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    std::vector<std::string> command(argv + i + 1, argv + *argc);
    *argc = i;
    return command;
  }
  return {};
}

}  // namespace

CommandLine ParseCommandLine(int argc, char** argv) {
  Targets targets;
  targets.undrain.undrain = true;
  CLI::App app("ringdeal: deal connections to workers, and see how they are spread", "ringdeal");
  app.require_subcommand(1);
  app.set_version_flag("--version", "ringdeal " RINGDEAL_VERSION);
  CLI::App* run = AddRun(&app, &targets.run);
  CLI::App* status = AddStatus(&app, &targets.status);
  CLI::App* topology = AddTopology(&app, &targets.topology);
  CLI::App* top = AddTop(&app, &targets.top);
  CLI::App* drain = AddDrain(&app, "drain", "Give a worker no further connections", &targets.drain);
  CLI::App* undrain = AddDrain(&app, "undrain", "Take a drain back", &targets.undrain);
  CLI::App* reload = AddReload(&app, &targets.reload);
  CLI::App* check = AddCheck(&app, &targets.check);
  CLI::App* spread =
      AddSpread(&app, &targets.spread, &targets.spread_shape, &targets.spread_timeout);
  CLI::App* doctor = AddDoctor(&app, &targets.doctor);
  CLI::App* simulate = AddSimulate(&app, &targets.simulate);

  std::vector<std::string> command = TakeCommand(&argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return Ended(app.exit(error) == 0 ? kExitOk : kExitUsage);
  }
  if (!run->parsed() && !command.empty()) return UsageError("only run takes a command after --");

  CommandLine line;
  if (run->parsed()) {
    if (command.empty()) return UsageError("run needs a command: ringdeal run -- COMMAND");
    targets.run.command = std::move(command);
    line.command = targets.run;
  }
  if (status->parsed()) line.command = targets.status;
  if (topology->parsed()) line.command = targets.topology;
  if (top->parsed()) line.command = targets.top;
  if (drain->parsed()) line.command = targets.drain;
  if (undrain->parsed()) line.command = targets.undrain;
  if (reload->parsed()) line.command = targets.reload;
  if (check->parsed()) line.command = targets.check;
  if (doctor->parsed()) line.command = targets.doctor;
  if (simulate->parsed()) line.command = targets.simulate;
  if (spread->parsed()) {
    targets.spread.shape = ShapeOf(targets.spread_shape);
    targets.spread.timeout =
        std::chrono::milliseconds(static_cast<long>(targets.spread_timeout * 1000));
    line.command = targets.spread;
  }
  return line;
}

}  // namespace ringdeal
