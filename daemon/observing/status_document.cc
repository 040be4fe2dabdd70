#include "daemon/observing/status_document.h"

#include <nlohmann/json.hpp>

namespace ringdeal {
namespace {

using Json = nlohmann::ordered_json;

// Maps are built key by key: an empty one is an object too, not null.
Json ObjectOf(const std::map<std::string, uint64_t>& counts) {
  Json object = Json::object();
  for (const auto& [word, count] : counts) object[word] = count;
  return object;
}

Json UsersOf(const Principals& principals) {
  return {{"uids", principals.uids}, {"gids", principals.gids}};
}

Json WorkerOf(const WorkerSnapshot& worker) {
  return {
      {"slot", worker.slot},
      {"pid", worker.pid},
      {"uid", worker.uid},
      {"state", worker.state},
      {"one_at_a_time", worker.one_at_a_time},
      {"weight", worker.weight},
      {"weight_part", worker.weight_part},
      {"cpus", worker.cpus},
      {"placement", worker.placement},
      {"active", worker.active},
      {"pending", worker.pending},
      {"queued", worker.queued},
      {"load", worker.load},
      {"handed", worker.handed},
      {"recalled", worker.recalled},
      {"taken", worker.taken},
      {"closed", worker.closed},
      {"direct", worker.direct},
      {"pass_seconds", worker.pass_seconds},
  };
}

Json RowOf(const RowSnapshot& row) {
  Json workers = Json::array();
  for (const auto& stake : row.stakes) {
    workers.push_back({{"slot", stake.slot}, {"share", stake.share}, {"ring", stake.ring}});
  }
  return {{"cpu", row.cpu}, {"workers", std::move(workers)}};
}

Json TopologyOf(const std::vector<ObjectSnapshot>& objects) {
  Json shown = Json::array();
  for (const auto& object : objects) {
    shown.push_back({{"parent", object.parent}, {"ring", object.ring}, {"cpus", object.cpus}});
  }
  return shown;
}

Json ListenerOf(const ListenerSnapshot& listener) {
  Json workers = Json::array();
  for (const auto& worker : listener.workers) workers.push_back(WorkerOf(worker));
  Json deck = Json::array();
  for (const auto& row : listener.deck) deck.push_back(RowOf(row));
  return {
      {"name", listener.name},
      {"address", listener.address},
      {"policy", listener.policy},
      {"mode", listener.mode},
      {"owned", listener.owned},
      {"allow", UsersOf(listener.allow)},
      {"accepted", listener.accepted},
      {"accept_errors", ObjectOf(listener.accept_errors)},
      {"handoffs", ObjectOf(listener.handoffs)},
      {"redealt", listener.redealt},
      {"recalls", ObjectOf(listener.recalls)},
      {"holds", listener.holds},
      {"held_seconds", listener.held_seconds},
      {"rate_pauses", listener.rate_pauses},
      {"rate_paused_seconds", listener.rate_paused_seconds},
      {"no_worker_resets", listener.no_worker_resets},
      {"kept", listener.kept},
      {"listener_repairs", listener.listener_repairs},
      {"counters_clamped", listener.counters_clamped},
      {"long_passes", listener.long_passes},
      {"workers_stuck", listener.workers_stuck},
      {"free_percent", listener.free_percent},
      {"workers_joined", listener.workers_joined},
      {"workers_left", listener.workers_left},
      {"deals_by_ring", ObjectOf(listener.deals_by_ring)},
      {"turned_away", listener.turned_away},
      {"decks_dealt", listener.decks_dealt},
      {"deck", std::move(deck)},
      {"workers", std::move(workers)},
  };
}

}  // namespace

std::string RenderStatus(const Snapshot& snapshot) {
  Json listeners = Json::array();
  for (const auto& listener : snapshot.listeners) listeners.push_back(ListenerOf(listener));
  const Json document = {
      {"version", kStatusVersion},
      {"ringdeald", snapshot.version},
      {"pid", snapshot.pid},
      {"uptime_seconds", snapshot.uptime_seconds},
      {"control_connections", snapshot.control_connections},
      {"control_refusals", ObjectOf(snapshot.control_refusals)},
      {"config_reloads", ObjectOf(snapshot.config_reloads)},
      {"config_last_reload_successful", snapshot.config_last_reload_successful},
      {"recall_threads_abandoned", snapshot.recall_threads_abandoned},
      {"acceptor_unblocked", snapshot.acceptor_unblocked},
      {"http_connections", snapshot.http_connections},
      {"http_connections_full", snapshot.http_connections_full},
      {"http_timeouts", snapshot.http_timeouts},
      {"http_streams", snapshot.http_streams},
      {"http_streams_full", snapshot.http_streams_full},
      {"http_streams_dropped", snapshot.http_streams_dropped},
      {"adopt", UsersOf(snapshot.adopt)},
      {"topology", TopologyOf(snapshot.topology)},
      {"listeners", std::move(listeners)},
  };
  // Names from outside may be any bytes: those that are no UTF-8 become U+FFFD instead of throwing.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ringdeal
