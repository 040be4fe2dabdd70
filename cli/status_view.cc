#include "cli/status_view.h"

#include <nlohmann/json.hpp>

namespace ringdeal {
namespace {

using nlohmann::json;

Permitted PermittedIn(const json& object, const char* key) {
  const json users = object.value(key, json::object());
  return {.uids = users.value("uids", std::vector<uid_t>()),
          .gids = users.value("gids", std::vector<gid_t>())};
}

WorkerView WorkerIn(const json& worker) {
  const auto number = [&](const char* key) { return worker.value(key, uint64_t{0}); };
  return {.slot = number("slot"),
          .pid = worker.value("pid", pid_t{0}),
          .state = worker.value("state", std::string()),
          .one_at_a_time = worker.value("one_at_a_time", false),
          .cpus = worker.value("cpus", std::string()),
          .placement = worker.value("placement", std::string()),
          .active = number("active"),
          .pending = number("pending"),
          .handed = number("handed"),
          .recalled = number("recalled"),
          .taken = number("taken"),
          .closed = number("closed"),
          .direct = number("direct"),
          .pass_seconds = worker.value("pass_seconds", 0.0)};
}

ListenerView ListenerIn(const json& listener) {
  ListenerView view{
      .name = listener.value("name", std::string()),
      .address = listener.value("address", std::string()),
      .policy = listener.value("policy", std::string()),
      .mode = listener.value("mode", std::string()),
      .owned = listener.value("owned", false),
      .allow = PermittedIn(listener, "allow"),
      .holds = listener.value("holds", uint64_t{0}),
      .redealt = listener.value("redealt", uint64_t{0}),
      .deals_by_ring = listener.value("deals_by_ring", std::map<std::string, uint64_t>()),
      .workers = {}};
  for (const json& worker : listener.at("workers")) view.workers.push_back(WorkerIn(worker));
  return view;
}

}  // namespace

std::optional<StatusView> ParseStatus(const std::string& document) {
  try {
    const json status = json::parse(document);
    StatusView view{.version = status.value("ringdeald", std::string()),
                    .pid = status.value("pid", pid_t{0}),
                    .uptime_seconds = status.value("uptime_seconds", 0.0),
                    .adopt = PermittedIn(status, "adopt"),
                    .listeners = {}};
    for (const json& listener : status.at("listeners")) {
      view.listeners.push_back(ListenerIn(listener));
    }
    return view;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace ringdeal
