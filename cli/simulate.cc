#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/ring_names.h"
#include "cli/simulation_plot.h"
#include "cli/simulation_request.h"
#include "cli/simulator.h"

namespace ringdeal {
namespace {

int Fail(int code, const std::string& text) {
  std::fprintf(stderr, "ringdeal simulate: %s\n", text.c_str());
  return code;
}

std::optional<SimulatedDeal> ReadDeal(const std::string& text) {
  try {
    const nlohmann::json object = nlohmann::json::parse(text);
    SimulatedDeal deal;
    object.at("policy").get_to(deal.policy);
    object.at("rings_percent").get_to(deal.rings_percent);
    object.at("share_error_max_percent").get_to(deal.share_error_max_percent);
    object.at("active_spread_percent_of_mean").get_to(deal.active_spread_percent_of_mean);
    object.at("idle_workers").get_to(deal.idle_workers);
    return deal;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

void PrintTable(const std::vector<SimulatedDeal>& deals) {
  std::printf(
      "percent of connections by the smallest thing that has the receiving CPU and the "
      "worker\n%-14s",
      "policy");
  for (const char* name : kRingNames) std::printf(" %8s", name);
  std::printf("  %11s  %13s  %4s\n", "share error", "active spread", "idle");
  for (const SimulatedDeal& deal : deals) {
    std::printf("%-14s", deal.policy.c_str());
    for (const double percent : deal.rings_percent) std::printf(" %8.2f", percent);
    std::printf("  %9.2f %%  %11.2f %%  %4llu\n", deal.share_error_max_percent,
                deal.active_spread_percent_of_mean,
                static_cast<unsigned long long>(deal.idle_workers));
  }
}

bool WriteFile(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

}  // namespace

int SimulateDeal(const SimulateOptions& options) {
  std::vector<SimulatedDeal> deals;
  for (const std::string& policy : options.policies) {
    const auto request = SimulationRequestFor(options, policy);
    if (!request) return Fail(kExitUsage, request.error().text);
    const auto answer = AskSimulator(*request);
    if (!answer) return answer.error();
    const std::optional<SimulatedDeal> deal = ReadDeal(*answer);
    if (!deal) return Fail(kExitSystem, "the answer of ringdeald cannot be read");
    deals.push_back(*deal);
    if (options.json) std::fputs(answer->c_str(), stdout);
  }
  if (!options.json) PrintTable(deals);
  if (!options.plot.empty() && !WriteFile(options.plot, PlotDeals(deals))) {
    return Fail(kExitSystem, options.plot + ": " + std::strerror(errno));
  }
  return kExitOk;
}

}  // namespace ringdeal
