// What `ringdeal doctor` found, and its two forms. Main thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/advice.h"
#include "cli/diagnosis.h"

namespace ringdeal {

struct ProcessReport {
  pid_t pid = 0;
  std::string name;
  Diagnosis diagnosis;
  const Advice* advice = nullptr;  // null: nothing is known about such a server
};

struct DoctorReport {
  std::string target;             // as it was asked for
  std::vector<Finding> findings;  // about no single process
  std::vector<ProcessReport> processes;

  // There are some, and all of them are.
  bool dealt() const;
};

std::string ReportAsText(const DoctorReport& report);
// One line; its keys are documented in docs/operations.md and stay.
std::string ReportAsJson(const DoctorReport& report);

}  // namespace ringdeal
