// The subcommands. Each prints what it has to say and returns the exit code. Main thread.
#pragma once

#include "cli/options.h"

namespace ringdeal {

// Sets up the environment of the shim and becomes the target program: returns only on failure.
int RunTarget(const RunOptions& options);
// Prints the status document of ringdeald, as it is or as a table.
int ShowStatus(const StatusOptions& options);
// Prints the machine's tree with the workers of each listener and what its CPUs receive.
int ShowTopology(const TopologyOptions& options);
// Shows the workers live: on a terminal until a key ends it, else as text.
int ShowTop(const TopOptions& options);
// Asks ringdeald to drain one worker, or to deal to it again.
int SetDraining(const DrainOptions& options);
// Has ringdeald read its configuration again, and prints what has changed.
int ReloadConfiguration(const ReloadOptions& options);
// Becomes `ringdeald --check`, which owns the parser: returns only on failure.
int CheckFile(const CheckOptions& options);
// Opens connections to a server and shows which process holds each.
int ShowSpread(const SpreadOptions& options);
// Says of a process, or of all that listen at an address, why they are dealt connections or not.
int Examine(const DoctorOptions& options);

// Has ringdeald deal connections in virtual time, and shows how near and how evenly.
int SimulateDeal(const SimulateOptions& options);

}  // namespace ringdeal
