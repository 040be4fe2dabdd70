#include "daemon/simulating/simulation_json.h"

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>

#include <nlohmann/json.hpp>

#include "daemon/dealing/cpu_list.h"
#include "protocol/control_messages.h"

namespace ringdeal {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kHash[] = "hash";
constexpr size_t kMostWorkers = 4096;
constexpr size_t kMostReceivers = 4096;
constexpr double kMostConnections = 1e8;
constexpr double kMostShare = 1e6;
constexpr double kMostSlack = 1e6;
constexpr double kLeastRate = 1e-9;
constexpr double kMostRate = 1e9;

// Never leaves this file.
struct Unusable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void Refuse(const std::string& key, const std::string& wanted) {
  throw Unusable("\"" + key + "\" must be " + wanted);
}

const Json* Find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string Short(double number) {
  const Json text =
      number == std::floor(number) ? Json(static_cast<int64_t>(number)) : Json(number);
  return text.dump();
}

double NumberFrom(const Json& value, const char* key, double least, double most) {
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (number >= least && number <= most) return number;
  Refuse(key, "a number from " + Short(least) + " to " + Short(most));
}

double Number(const Json& object, const char* key, double least, double most,
              std::optional<double> fallback = std::nullopt) {
  const Json* value = Find(object, key);
  if (value == nullptr && fallback) return *fallback;
  return NumberFrom(value == nullptr ? Json() : *value, key, least, most);
}

template <typename Whole>
Whole WholeNumber(const Json& object, const char* key, double least, double most,
                  std::optional<double> fallback = std::nullopt) {
  const double number = Number(object, key, least, most, fallback);
  if (number != std::floor(number)) Refuse(key, "a whole number");
  return static_cast<Whole>(number);
}

std::string Text(const Json& object, const char* key, const char* fallback) {
  const Json* value = Find(object, key);
  if (value == nullptr) return fallback;
  if (!value->is_string()) Refuse(key, "a text");
  return value->get<std::string>();
}

const Json& Objects(const Json& object, const char* key, size_t most) {
  const Json* value = Find(object, key);
  if (value == nullptr || !value->is_array() || value->empty() || value->size() > most) {
    Refuse(key, "a list of 1 to " + std::to_string(most) + " objects");
  }
  for (const Json& each : *value) {
    if (!each.is_object()) Refuse(key, "a list of objects");
  }
  return *value;
}

bool Flag(const Json& object, const char* key) {
  const Json* value = Find(object, key);
  if (value == nullptr) return false;
  if (!value->is_boolean()) Refuse(key, "true or false");
  return value->get<bool>();
}

std::vector<int> Cpus(const Json& object) {
  const auto cpus = ParseCpuList(Text(object, "cpus", ""));
  if (!cpus) throw Unusable("\"cpus\": " + cpus.error());
  return *cpus;
}

void AddReceivers(const Json& object, std::vector<Receiver>* receivers) {
  const double weight = Number(object, "weight", kLeastRate, kMostShare, 1);
  for (const int cpu : Cpus(object)) receivers->push_back({cpu, weight});
}

// One worker for each of the CPUs, one for all of them together, or some that are nowhere.
void AddWorkers(const Json& object, std::vector<SimulatedWorker>* workers) {
  SimulatedWorker worker;
  worker.weight = WholeNumber<uint32_t>(object, "weight", 1, kMostWeight, 1);
  worker.set = Flag(object, "set");
  if (Find(object, "cpus") == nullptr) {
    const auto count = WholeNumber<size_t>(object, "count", 1, kMostWorkers, 1);
    workers->insert(workers->end(), count, worker);
    return;
  }
  worker.cpus = Cpus(object);
  if (!Flag(object, "pinned")) return workers->push_back(worker);
  for (const int cpu : Cpus(object)) {
    worker.cpus = {cpu};
    workers->push_back(worker);
  }
}

Holding HoldingOf(const std::string& name) {
  if (name == "constant") return Holding::kConstant;
  if (name == "exponential") return Holding::kExponential;
  if (name == "pareto") return Holding::kPareto;
  Refuse("holding", "constant, exponential or pareto");
}

Coverage CoverageOf(const std::string& name) {
  if (name == "any") return Coverage::kAny;
  if (name == "all") return Coverage::kAll;
  Refuse("coverage", "any or all");
}

const Policy* PolicyOf(const std::string& name) {
  const Policy* policy = FindPolicy(name);
  if (policy != nullptr || name == kHash) return policy;
  std::string names;
  for (const Policy& each : Policies()) names += std::string(each.name) + ", ";
  Refuse("policy", names + "or " + kHash);
}

SimulationRequest Read(const Json& object) {
  if (!object.is_object()) throw Unusable("the request must be an object");
  SimulationRequest request;
  request.topology = Text(object, "topology", "");
  for (const Json& each : Objects(object, "receivers", kMostReceivers)) {
    AddReceivers(each, &request.receivers);
  }
  for (const Json& each : Objects(object, "workers", kMostWorkers)) {
    AddWorkers(each, &request.workers);
  }
  if (request.receivers.empty() || request.receivers.size() > kMostReceivers) {
    Refuse("receivers", "1 to " + std::to_string(kMostReceivers) + " CPUs");
  }
  if (request.workers.empty() || request.workers.size() > kMostWorkers) {
    Refuse("workers", "1 to " + std::to_string(kMostWorkers) + " workers");
  }
  const PolicyRules usual;
  request.policy = PolicyOf(Text(object, "policy", "ring-deal"));
  request.rules.slack = WholeNumber<uint32_t>(object, "slack", 1, kMostSlack, usual.slack);
  request.rules.slack_percent = Number(object, "slack_percent", 0, kMostSlack, usual.slack_percent);
  request.rules.coverage = CoverageOf(Text(object, "coverage", "all"));
  request.holding = HoldingOf(Text(object, "holding", "exponential"));
  request.mean_holding_seconds = Number(object, "mean_holding_seconds", kLeastRate, kMostRate, 1);
  const double active = Number(object, "mean_active", kLeastRate, kMostRate, 100);
  request.arrivals_per_second =
      Number(object, "arrivals_per_second", kLeastRate, kMostRate,
             active * static_cast<double>(request.workers.size()) / request.mean_holding_seconds);
  request.pareto_shape = Number(object, "pareto_shape", 1.01, 100, request.pareto_shape);
  request.connections = WholeNumber<uint64_t>(object, "connections", 1, kMostConnections);
  request.seed = WholeNumber<uint64_t>(object, "seed", 0, 0x1p53, 1);
  return request;
}

double Rounded(double number) { return std::round(number * 1000) / 1000; }

}  // namespace

Result<SimulationRequest, std::string> ParseSimulationRequest(const std::string& text) {
  const Json object = Json::parse(text, nullptr, false);
  if (object.is_discarded()) return std::string("the request is not JSON");
  try {
    return Read(object);
  } catch (const Unusable& unusable) {
    return std::string(unusable.what());
  }
}

std::string SimulationAsJson(const SimulationRequest& request, const SimulationResult& result) {
  Json rings = Json::array();
  for (const double percent : result.rings_percent) rings.push_back(Rounded(percent));
  const Json object = {
      {"policy", request.policy == nullptr ? kHash : request.policy->name},
      {"rings_percent", rings},
      {"share_error_max_percent", Rounded(result.share_error_max_percent)},
      {"active_spread_percent_of_mean", Rounded(result.active_spread_percent_of_mean)},
      {"idle_workers", result.idle_workers}};
  return object.dump() + "\n";
}

}  // namespace ringdeal
