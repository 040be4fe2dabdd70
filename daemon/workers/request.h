// The lines of the control socket, parsed and written. Pure; any thread. The only place of the
// daemon's control side that sees JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/workers/worker.h"
#include "protocol/result.h"

namespace ringdeal {

struct Request {
  std::string op;
  int version = 1;
  std::optional<std::string> listener;
  std::optional<std::string> address;
  std::vector<int> cpus;  // where the operator set it, in ascending order
  uint32_t weight = 1;
  bool observer = false;
  bool forked = false;
  bool one_at_a_time = false;
  bool direct = false;
  bool passes_listener = false;
  bool passes_pidfd = false;
  WorkerReport report;
  std::optional<pid_t> pid;
  std::optional<Slot> slot;
};

struct RequestError {
  const char* code = "";  // one of namespace code
  std::string text;
};

// Unknown keys are passed over, so that newer workers can say more; known keys must have the right
// type and range.
Result<Request, RequestError> ParseRequest(std::string_view line);

// What a failed step of ours means to who asked.
RequestError FailedStep(const SystemError& error);

// Answers, each one line with its end.
std::string OkLine();
std::string RegisteredLine(Slot slot, const std::string& listener);
std::string BytesLine(size_t bytes);
std::string ChangesLine(const std::string& changes);
std::string ErrorLine(const RequestError& error);

}  // namespace ringdeal
