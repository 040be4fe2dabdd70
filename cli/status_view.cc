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
  return {.pid = worker.value("pid", pid_t{0}),
          .state = worker.value("state", std::string()),
          .one_at_a_time = worker.value("one_at_a_time", false),
          .active = worker.value("active", uint64_t{0}),
          .handed = worker.value("handed", uint64_t{0}),
          .pass_seconds = worker.value("pass_seconds", 0.0)};
}

ListenerView ListenerIn(const json& listener) {
  ListenerView view{.name = listener.value("name", std::string()),
                    .address = listener.value("address", std::string()),
                    .mode = listener.value("mode", std::string()),
                    .owned = listener.value("owned", false),
                    .allow = PermittedIn(listener, "allow"),
                    .workers = {}};
  for (const json& worker : listener.at("workers")) view.workers.push_back(WorkerIn(worker));
  return view;
}

}  // namespace

std::optional<StatusView> ParseStatus(const std::string& document) {
  try {
    const json status = json::parse(document);
    StatusView view{.pid = status.value("pid", pid_t{0}),
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
