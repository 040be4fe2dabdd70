// What the command line says, one struct a subcommand. Made once at start, then constant.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ringdeal {

struct RunOptions {
  std::string control;  // empty: the shim's own default
  std::string cpus;
  unsigned weight = 1;
  bool require = false;             // an error instead of going on without ringdeald
  std::optional<unsigned> workers;  // copies of the command; not set: become the command
  bool pin = false;                 // each copy on CPUs of its own
  std::vector<std::string> command;
};

struct StatusOptions {
  std::string control;  // empty: DefaultControlPath
  bool json = false;
};

struct TopologyOptions {
  std::string control;   // empty: DefaultControlPath
  std::string listener;  // empty: all
  bool json = false;
};

struct TopOptions {
  std::string control;   // empty: DefaultControlPath
  std::string listener;  // empty: all
  std::string sort;      // head of a column; empty: the first
  bool reverse = false;
  double interval = 1;  // seconds
  unsigned count = 0;   // looks; 0: until it is ended
};

struct DrainOptions {
  std::string control;
  bool undrain = false;
  std::string listener;
  std::optional<unsigned> pid;  // exactly one of the two
  std::optional<unsigned> slot;
};

struct ReloadOptions {
  std::string control;  // empty: DefaultControlPath
};

struct CheckOptions {
  std::string file;
};

enum class SpreadShape {
  kBurst,     // all connections started at once
  kRamp,      // one every 10 ms, all kept
  kOneByOne,  // open, ask, close, next
};

struct SpreadOptions {
  std::string address;
  unsigned connections = 32;
  SpreadShape shape = SpreadShape::kBurst;
  std::string path;     // not empty: the answer's body names the process
  bool silent = false;  // send nothing
  bool json = false;
  std::optional<unsigned> workers_of;       // its children are the workers
  std::chrono::milliseconds timeout{5000};  // of each connection, from its start
};

struct DoctorOptions {
  std::string control;  // empty: the one of each process, as far as that is known
  std::string target;   // a process number or an address
  bool json = false;
};

struct SimulateOptions {
  std::string profile;  // empty: topology, receive and workers say it all
  std::string topology;
  // Each LIST, LIST:WEIGHT, N or N:WEIGHT.
  std::vector<std::string> receive;
  std::vector<std::string> pinned;
  std::vector<std::string> on;
  std::vector<std::string> unplaced;
  bool set = false;  // the operator said where the workers sit
  std::vector<std::string> policies = {"ring-deal"};
  std::optional<unsigned> slack;
  std::optional<double> slack_percent;
  std::string coverage = "all";
  std::string holding;  // empty: the profile's, or exponential
  std::optional<double> pareto_shape;
  std::optional<double> mean_holding;  // seconds; 1
  double mean_active = 100;            // of a worker, unless there is a rate
  std::optional<double> arrival_rate;  // a second
  unsigned long connections = 320000;
  unsigned long seed = 1;
  bool json = false;
  std::string plot;  // empty: no file
};

struct CommandLine {
  std::optional<int> exit_code;  // set: everything is said, end with it
  std::variant<RunOptions, StatusOptions, DrainOptions, CheckOptions, SpreadOptions, DoctorOptions,
               SimulateOptions, TopologyOptions, TopOptions, ReloadOptions>
      command;
};

// Prints help, version or what is wrong itself.
CommandLine ParseCommandLine(int argc, char** argv);

}  // namespace ringdeal
