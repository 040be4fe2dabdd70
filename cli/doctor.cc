#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/advice.h"
#include "cli/commands.h"
#include "cli/diagnosis.h"
#include "cli/doctor_report.h"
#include "cli/exit_codes.h"
#include "cli/process_facts.h"
#include "cli/processes.h"
#include "cli/socket_owner.h"
#include "cli/status_reader.h"
#include "protocol/socket_address.h"

namespace ringdeal {
namespace {

constexpr char kDealer[] = "ringdeald";

std::optional<pid_t> PidIn(const std::string& target) {
  if (target.empty() || target.find_first_not_of("0123456789") != std::string::npos) return {};
  const long number = std::strtol(target.c_str(), nullptr, 10);
  return number > 0 && number <= INT32_MAX ? std::optional(static_cast<pid_t>(number))
                                           : std::nullopt;
}

// Looks at processes one after the other; what holds for all is asked once.
class Doctor {
 public:
  explicit Doctor(std::string control) : control_(std::move(control)) {
    for (const pid_t pid : AllProcesses()) children_[ParentOf(pid)].push_back(pid);
  }

  ProcessReport Examine(pid_t pid) {
    ProcessReport report{.pid = pid, .name = {}, .diagnosis = {}, .advice = nullptr};
    const std::optional<ProcessFacts> facts = LookAt(pid);
    if (!facts) {
      report.diagnosis = DiagnoseMissing(pid);
      return report;
    }
    report.name = facts->name;
    const std::string control = control_.empty() ? ControlOf(*facts) : control_;
    report.diagnosis = Diagnose(*facts, Ask(control), DescendantsOf(pid));
    std::vector<std::string> words = facts->words;
    words.insert(words.begin(), facts->name);
    report.advice = AdviceFor(words, facts->files);
    return report;
  }

  const AskedDealer& Ask(const std::string& control) {
    const auto known = dealers_.find(control);
    if (known != dealers_.end()) return known->second;
    AskedDealer& dealer = dealers_[control];
    dealer.control = control;
    const auto document = ReadStatus(control);
    if (document) dealer.status = ParseStatus(*document);
    dealer.problem = document ? "The status document cannot be read" : document.error().text;
    return dealer;
  }

 private:
  std::vector<pid_t> DescendantsOf(pid_t pid) const {
    std::vector<pid_t> found = {pid};
    for (size_t i = 0; i < found.size(); ++i) {
      const auto children = children_.find(found[i]);
      if (children == children_.end()) continue;
      for (const pid_t child : children->second) {
        // A number that is used again could close a circle.
        if (std::ranges::find(found, child) == found.end()) found.push_back(child);
      }
    }
    found.erase(found.begin());
    return found;
  }

  const std::string control_;
  std::map<pid_t, std::vector<pid_t>> children_;
  std::map<std::string, AskedDealer> dealers_;
};

// The processes that hold a listener of the address, or are registered for it without holding it.
DoctorReport ExamineAddress(const SocketAddress& address, Doctor* doctor,
                            const DoctorOptions& options, SocketOwner* owner) {
  DoctorReport report;
  const std::vector<SocketId> sockets = owner->ListenersOf(address);
  const Holders holders = FindHolders({sockets.begin(), sockets.end()});
  std::set<pid_t> pids;
  bool has_dealer = false;
  for (const auto& [socket, holding] : holders.of) {
    for (const pid_t pid : holding) {
      const bool is_dealer = NameOf(pid) == kDealer;
      has_dealer = has_dealer || is_dealer;
      if (!is_dealer) pids.insert(pid);
    }
  }
  char text[kMaxAddressText] = "";
  FormatAddress(address, text, sizeof(text));
  if (const auto& status = doctor->Ask(options.control).status) {
    for (const ListenerView& listener : status->listeners) {
      if (listener.address != text) continue;
      for (const WorkerView& worker : listener.workers) {
        if (worker.pid != 0) pids.insert(worker.pid);
      }
    }
  }
  for (const pid_t pid : pids) report.processes.push_back(doctor->Examine(pid));

  if (sockets.empty()) {
    report.findings.push_back(
        {"nobody-listens", "Nobody listens there, in this network namespace."});
  } else if (pids.empty() && has_dealer) {
    report.findings.push_back({"only-ringdeald",
                               "ringdeald listens there, and no server has joined: is one running "
                               "under the shim that binds this address, as a user in `allow`?"});
  } else if (!holders.complete) {
    report.findings.push_back(
        {"not-all-visible",
         "Processes of other users may listen there too, which this user may not see: run this as "
         "root."});
  }
  return report;
}

}  // namespace

int Examine(const DoctorOptions& options) {
  const std::optional<pid_t> pid = PidIn(options.target);
  SocketAddress address;
  if (!pid && !ParseAddress(options.target.c_str(), &address)) {
    std::fprintf(stderr,
                 "ringdeal doctor: %s is no process number and no address like 127.0.0.1:8080, "
                 "[::1]:8080 or unix:/path\n",
                 options.target.c_str());
    return kExitUsage;
  }
  Doctor doctor(options.control);
  DoctorReport report;
  if (pid) {
    report.processes.push_back(doctor.Examine(*pid));
  } else {
    Result<SocketOwner> owner = SocketOwner::Open();
    if (!owner) {
      std::fprintf(stderr, "ringdeal doctor: cannot ask the kernel for sockets: %s\n",
                   std::strerror(owner.error().number));
      return kExitSystem;
    }
    report = ExamineAddress(address, &doctor, options, &*owner);
  }
  report.target = options.target;
  std::fputs((options.json ? ReportAsJson(report) : ReportAsText(report)).c_str(), stdout);
  return report.dealt() ? kExitOk : kExitNotDealt;
}

}  // namespace ringdeal
