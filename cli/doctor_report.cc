#include "cli/doctor_report.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace ringdeal {
namespace {

using Json = nlohmann::ordered_json;

std::string Indented(const std::string& text) { return "  " + text + "\n"; }

std::string AdviceAsText(const Advice& advice) {
  std::string text;
  for (const Advice::Must& must : advice.must) text += Indented(advice.title + ": " + must.text);
  for (const std::string& set : advice.set) text += Indented(advice.title + ": " + set);
  for (const std::string& not_working : advice.does_not_work) {
    text += Indented(advice.title + ", does not work: " + not_working);
  }
  return text;
}

Json FindingsAsJson(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"code", finding.code}, {"text", finding.text}});
  }
  return list;
}

Json AdviceAsJson(const Advice* advice) {
  if (advice == nullptr) return nullptr;
  Json must = Json::array();
  for (const Advice::Must& each : advice->must) must.push_back(each.text);
  return {{"server", advice->id},
          {"must", must},
          {"set", advice->set},
          {"does_not_work", advice->does_not_work}};
}

}  // namespace

bool DoctorReport::dealt() const {
  return !processes.empty() && std::ranges::all_of(processes, [](const ProcessReport& process) {
    return process.diagnosis.dealt;
  });
}

std::string ReportAsText(const DoctorReport& report) {
  std::string text;
  for (const ProcessReport& process : report.processes) {
    text += (process.name.empty() ? "process " : process.name + ", process ") +
            std::to_string(process.pid) + (process.diagnosis.dealt ? ": dealt\n" : ": not dealt\n");
    for (const Finding& finding : process.diagnosis.findings) text += Indented(finding.text);
    if (process.advice != nullptr) text += AdviceAsText(*process.advice);
  }
  for (const Finding& finding : report.findings) text += finding.text + "\n";
  return text;
}

std::string ReportAsJson(const DoctorReport& report) {
  Json processes = Json::array();
  for (const ProcessReport& process : report.processes) {
    processes.push_back({{"pid", process.pid},
                         {"name", process.name},
                         {"dealt", process.diagnosis.dealt},
                         {"findings", FindingsAsJson(process.diagnosis.findings)},
                         {"advice", AdviceAsJson(process.advice)}});
  }
  const Json document = {{"target", report.target},
                         {"dealt", report.dealt()},
                         {"findings", FindingsAsJson(report.findings)},
                         {"processes", std::move(processes)}};
  // Names of programs and paths may be any bytes.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ringdeal
