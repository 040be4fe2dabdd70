// A line of the control socket, as anybody may send it: what is taken is in range, what is refused
// is answered with one line, and what the shim can write is read as it was meant.
#include "protocol/control_messages.h"

#include <algorithm>
#include <string>

#include "daemon/dealing/cpu_list.h"
#include "daemon/workers/request.h"
#include "tests/fuzz/require.h"

namespace ringdeal {
namespace {

constexpr size_t kMostText = 256;
constexpr size_t kMostCpuText = 4096;

bool IsOneLine(const std::string& answer) {
  return !answer.empty() && answer.find('\n') == answer.size() - 1 &&
         answer.size() <= kMaxMessageBytes;
}

void CheckRanges(const Request& request) {
  Require(!request.op.empty() && request.op.size() <= kMostText, "an op of a bounded length");
  Require(request.version == kProtocolVersion, "our version");
  Require(request.weight >= 1 && request.weight <= kMostWeight, "a weight in range");
  Require(request.listener.value_or("").size() <= kMostText, "a bounded listener");
  Require(request.address.value_or("").size() <= kMostText, "a bounded address");
  Require(request.pid.value_or(1) > 0, "a pid of a process");
  Require(std::is_sorted(request.cpus.begin(), request.cpus.end()), "CPUs in order");
  Require(std::adjacent_find(request.cpus.begin(), request.cpus.end()) == request.cpus.end(),
          "each CPU once");
  Require(request.cpus.empty() || request.cpus.front() >= 0, "no CPU below 0");
  const WorkerReport& report = request.report;
  Require(report.active <= uint64_t{1} << 48 && report.taken <= uint64_t{1} << 48 &&
              report.pending <= kMostQueued,
          "counts that can be added up");
}

// Writes the request as the shim does and reads that again.
void CheckWriting(const Request& request) {
  const std::string cpus = FormatCpuList(request.cpus);
  if (cpus.size() > kMostCpuText) return;  // of many ranges that were written shorter
  RegisterRequest sent;
  sent.listener = request.listener ? request.listener->c_str() : nullptr;
  sent.address = request.address ? request.address->c_str() : nullptr;
  sent.cpus = request.cpus.empty() ? nullptr : cpus.c_str();
  sent.weight = request.weight;
  sent.observer = request.observer;
  sent.forked = request.forked;
  sent.one_at_a_time = request.one_at_a_time;
  sent.passes_listener = request.passes_listener;
  sent.passes_pidfd = request.passes_pidfd;
  char line[8192];
  const size_t length = FormatRegisterRequest(line, sizeof(line), sent);
  if (length == 0) return;  // a text that it may not write
  Require(line[length - 1] == '\n' && std::string_view(line, length).find('\n') == length - 1,
          "one line");
  const auto again = ParseRequest({line, length - 1});
  Require(again.ok(), "what the shim writes is a request");
  const auto same_text = [](const std::optional<std::string>& read, const char* written) {
    return written == nullptr ? !read : read == written;
  };
  Require(again->op == op::kRegister && same_text(again->listener, sent.listener) &&
              same_text(again->address, sent.address) && again->cpus == request.cpus &&
              again->weight == request.weight && again->observer == request.observer &&
              again->forked == request.forked && again->one_at_a_time == request.one_at_a_time &&
              again->passes_listener == request.passes_listener &&
              again->passes_pidfd == request.passes_pidfd,
          "what the shim writes is read as it was meant");
}

}  // namespace
}  // namespace ringdeal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringdeal;
  const std::string line(reinterpret_cast<const char*>(data), size);
  const auto request = ParseRequest(line);
  if (!request) {
    Require(IsOneLine(ErrorLine(request.error())), "an error is answered with one line");
    return 0;
  }
  CheckRanges(*request);
  CheckWriting(*request);
  Require(IsOneLine(RegisteredLine(0, request->listener.value_or(""))), "an answer is one line");
  Require(IsOneLine(ErrorLine({code::kUnknownOp, "the op \"" + request->op + "\" is not known"})),
          "an answer is one line");
  return 0;
}
