#include "cli/simulation_request.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace ringdeal {
namespace {

using Json = nlohmann::ordered_json;

struct Profile {
  const char* name;
  const char* topology;
  const char* receive;
  const char* pinned;
  const char* holding;
};

// CPUs are numbered core by core, so that the even ones are the first threads of the cores.
constexpr char kXeon[] = "synthetic:pack:2 l3:1 core:8 pu:2";
constexpr char kRyzen[] = "synthetic:pack:1 l3:2 core:8 pu:2";
constexpr char kEven16[] = "0,2,4,6,8,10,12,14";
constexpr char kEven32[] = "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30";
constexpr Profile kProfiles[] = {
    {"e5-2470v2", kXeon, kEven16, "0-31", "constant"},
    {"e5-2470v2-16rx", kXeon, kEven32, kEven32, "exponential"},
    {"ryzen-5950x", kRyzen, kEven32, kEven32, "exponential"},
};

const Profile* FindProfile(const std::string& name) {
  for (const Profile& profile : kProfiles) {
    if (name == profile.name) return &profile;
  }
  return nullptr;
}

std::string UnknownProfile(const std::string& name) {
  std::string text = "there is no profile \"" + name + "\"; there are";
  for (const Profile& profile : kProfiles) text += std::string(" ") + profile.name;
  return text;
}

// "LIST:WEIGHT" in its parts; nothing if the weight is no number.
struct Weighted {
  std::string what;
  double weight = 1;
};

std::optional<Weighted> ParseWeighted(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return Weighted{text};
  Weighted weighted{text.substr(0, colon)};
  const char* number = text.c_str() + colon + 1;
  char* end = nullptr;
  weighted.weight = std::strtod(number, &end);
  if (end == number || *end != '\0') return std::nullopt;
  return weighted;
}

// Adds an object for each of `texts`; false, with `problem`, if one is wrong.
bool AddAll(const std::vector<std::string>& texts, const Json& common, Json* objects,
            std::string* problem) {
  for (const std::string& text : texts) {
    const std::optional<Weighted> weighted = ParseWeighted(text);
    if (!weighted) {
      *problem = "\"" + text + "\": what is behind the colon must be a weight";
      return false;
    }
    Json object = common;
    object["cpus"] = weighted->what;
    object["weight"] = weighted->weight;
    objects->push_back(object);
  }
  return true;
}

bool AddUnplaced(const std::vector<std::string>& texts, Json* objects, std::string* problem) {
  for (const std::string& text : texts) {
    const std::optional<Weighted> weighted = ParseWeighted(text);
    unsigned count = 0;
    if (weighted) {
      const char* end = weighted->what.data() + weighted->what.size();
      if (std::from_chars(weighted->what.data(), end, count).ptr != end) count = 0;
    }
    if (count == 0) {
      *problem = "\"" + text + "\" must be a number of workers, or that, a colon and a weight";
      return false;
    }
    objects->push_back({{"count", count}, {"weight", weighted->weight}});
  }
  return true;
}

template <typename Value>
void SetIf(const std::optional<Value>& value, const char* key, Json* request) {
  if (value) (*request)[key] = *value;
}

}  // namespace

Result<std::string, WrongOption> SimulationRequestFor(const SimulateOptions& options,
                                                      const std::string& policy) {
  const Profile* profile = FindProfile(options.profile);
  if (profile == nullptr && !options.profile.empty())
    return WrongOption{UnknownProfile(options.profile)};
  std::vector<std::string> receive = options.receive;
  std::vector<std::string> pinned = options.pinned;
  const bool placed = !pinned.empty() || !options.on.empty() || !options.unplaced.empty();
  if (profile != nullptr && receive.empty()) receive.emplace_back(profile->receive);
  if (profile != nullptr && !placed) pinned.emplace_back(profile->pinned);
  if (receive.empty() || (profile == nullptr && !placed)) {
    return WrongOption{"needs --profile, or --receive and one of --pinned, --on and --unplaced"};
  }
  Json receivers = Json::array();
  Json workers = Json::array();
  std::string problem;
  if (!AddAll(receive, Json::object(), &receivers, &problem) ||
      !AddAll(pinned, {{"pinned", true}, {"set", options.set}}, &workers, &problem) ||
      !AddAll(options.on, {{"set", options.set}}, &workers, &problem) ||
      !AddUnplaced(options.unplaced, &workers, &problem)) {
    return WrongOption{problem};
  }
  const bool of_profile = profile != nullptr && options.topology.empty();
  const char* usual_holding = profile != nullptr ? profile->holding : "exponential";
  Json request = {{"topology", of_profile ? profile->topology : options.topology},
                  {"receivers", receivers},
                  {"workers", workers},
                  {"policy", policy},
                  {"coverage", options.coverage},
                  {"holding", options.holding.empty() ? usual_holding : options.holding},
                  {"mean_active", options.mean_active},
                  {"connections", options.connections},
                  {"seed", options.seed}};
  SetIf(options.arrival_rate, "arrivals_per_second", &request);
  SetIf(options.mean_holding, "mean_holding_seconds", &request);
  SetIf(options.slack, "slack", &request);
  SetIf(options.slack_percent, "slack_percent", &request);
  SetIf(options.pareto_shape, "pareto_shape", &request);
  // What is not UTF-8 is no list of CPUs either.
  return request.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ringdeal
