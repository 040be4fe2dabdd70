#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/status_reader.h"
#include "cli/topology_report.h"

namespace ringdeal {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kListenerKeys[] = {"name",          "address",     "policy",      "mode",
                                         "deals_by_ring", "turned_away", "decks_dealt", "deck"};
constexpr const char* kWorkerKeys[] = {"slot", "pid", "state", "weight", "cpus", "placement"};

int Fail(int code, const std::string& text) {
  std::fprintf(stderr, "ringdeal topology: %s\n", text.c_str());
  return code;
}

template <size_t kCount>
Json Only(const char* const (&keys)[kCount], const Json& object) {
  Json part = Json::object();
  for (const char* key : keys) part[key] = object.at(key);
  return part;
}

// What the status document says of places. `name`: of one listener; empty for all.
Json PartOf(const Json& status, const std::string& name) {
  Json listeners = Json::array();
  for (const Json& listener : status.at("listeners")) {
    if (!name.empty() && listener.at("name") != name) continue;
    Json part = Only(kListenerKeys, listener);
    part["workers"] = Json::array();
    for (const Json& worker : listener.at("workers")) {
      part["workers"].push_back(Only(kWorkerKeys, worker));
    }
    listeners.push_back(std::move(part));
  }
  return {{"topology", status.at("topology")}, {"listeners", std::move(listeners)}};
}

}  // namespace

int ShowTopology(const TopologyOptions& options) {
  const auto document = ReadStatus(options.control);
  if (!document) {
    return Fail(document.error().refused ? kExitRefused : kExitSystem, document.error().text);
  }
  try {
    const Json part = PartOf(Json::parse(*document), options.listener);
    if (!options.listener.empty() && part.at("listeners").empty()) {
      return Fail(kExitRefused, "there is no listener " + options.listener);
    }
    const std::string text = options.json ? part.dump() + '\n' : TopologyAsText(part);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kExitOk;
  } catch (const std::exception&) {
    return Fail(kExitSystem, "the status document cannot be read");
  }
}

}  // namespace ringdeal
