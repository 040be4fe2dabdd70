// Why a process is dealt connections or is not: sentences, each with a word that stays the same.
// Pure; any thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/process_facts.h"
#include "cli/status_view.h"

namespace ringdeal {

struct Finding {
  const char* code = "";  // docs/operations.md lists them
  std::string text;
};

struct Diagnosis {
  bool dealt = false;
  std::vector<Finding> findings;
};

// The ringdeald that was asked.
struct AskedDealer {
  std::string control;               // its control socket; empty: the default one
  std::optional<StatusView> status;  // not set: it did not answer,
  std::string problem;               // and this is why
};

// `descendants` are those of the process: a master of workers that are dealt is dealt by them.
Diagnosis Diagnose(const ProcessFacts& facts, const AskedDealer& dealer,
                   const std::vector<pid_t>& descendants);

// What is said of a process that does not exist.
Diagnosis DiagnoseMissing(pid_t pid);

// The control socket to which the shim in the process turns. Empty if that is the default one, or
// is not known.
std::string ControlOf(const ProcessFacts& facts);

}  // namespace ringdeal
