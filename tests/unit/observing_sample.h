// A snapshot in which every field has a value of its own.
#pragma once

#include "daemon/observing/snapshot.h"

namespace ringdeal {

inline WorkerSnapshot SampleWorker(uint32_t slot) {
  WorkerSnapshot worker;
  worker.slot = slot;
  worker.pid = 70001;
  worker.uid = 70002;
  worker.state = "worker";
  worker.one_at_a_time = true;
  worker.weight = 103;
  worker.weight_part = 0.5;
  worker.cpus = "0-3,8";
  worker.placement = "learned";
  worker.active = 104;
  worker.pending = 105;
  worker.queued = 106;
  worker.load = 107;
  worker.handed = 108;
  worker.recalled = 109;
  worker.taken = 110;
  worker.closed = 111;
  worker.direct = 112;
  worker.pass_seconds = 0.25;
  return worker;
}

inline ListenerSnapshot SampleListener(std::string name) {
  ListenerSnapshot listener;
  listener.name = std::move(name);
  listener.address = "127.0.0.1:8080";
  listener.policy = "least-loaded";
  listener.mode = "holding";
  listener.owned = true;
  listener.allow = {.uids = {213}, .gids = {214}};
  listener.accepted = 201;
  listener.accept_errors = {{"EMFILE", 202}, {"ECONNABORTED", 203}};
  listener.handoffs = {{"delivered", 204}, {"full", 205}};
  listener.redealt = 206;
  listener.recalls = {{"left", 222}, {"overdue", 223}};
  listener.long_passes = 224;
  listener.holds = 207;
  listener.held_seconds = 1.5;
  listener.rate_pauses = 220;
  listener.rate_paused_seconds = 2.5;
  listener.no_worker_resets = 221;
  listener.kept = 208;
  listener.free_percent = 62.5;
  listener.workers_joined = 209;
  listener.workers_left = 210;
  listener.counters_clamped = 211;
  listener.listener_repairs = 212;
  listener.deals_by_ring = {{"0", 215}, {"3", 216}};
  listener.turned_away = 217;
  listener.decks_dealt = 218;
  listener.workers_stuck = 219;
  listener.deck = {{.cpu = 6, .stakes = {{0, 0.25, 1}, {4, 0.5, 3}}}};
  return listener;
}

inline Snapshot SampleSnapshot() {
  Snapshot snapshot;
  snapshot.version = "9.8.7";
  snapshot.pid = 70003;
  snapshot.uptime_seconds = 64.5;
  snapshot.control_connections = 301;
  snapshot.control_refusals = {{"not-allowed", 302}};
  snapshot.config_reloads = {{"applied", 310}, {"failed", 311}};
  snapshot.config_last_reload_successful = false;
  snapshot.recall_threads_abandoned = 303;
  snapshot.acceptor_unblocked = 304;
  snapshot.http_connections = 305;
  snapshot.http_connections_full = 306;
  snapshot.http_timeouts = 307;
  snapshot.http_streams = 312;
  snapshot.http_streams_full = 313;
  snapshot.http_streams_dropped = 314;
  snapshot.adopt = {.uids = {308}, .gids = {309}};
  snapshot.topology = {{0, 4, "0-3,8"}};
  snapshot.listeners.push_back(SampleListener("web"));
  snapshot.listeners[0].workers = {SampleWorker(0), SampleWorker(4)};
  return snapshot;
}

// Quotes, a backslash, a newline, markup, and a byte that is no UTF-8.
inline constexpr char kHostileName[] = "a\"b\\c\nringdeal_fake 1</script>\xff\xc3\xa9";
inline constexpr char kHostileNameAsUtf8[] =
    "a\"b\\c\nringdeal_fake 1</script>\xef\xbf\xbd\xc3\xa9";

}  // namespace ringdeal
