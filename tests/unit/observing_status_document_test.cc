#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/observing/status_document.h"
#include "tests/unit/observing_sample.h"

namespace ringdeal {
namespace {

using nlohmann::json;

std::string TypeOf(const json& value) {
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  if (value.is_boolean()) return "boolean";
  return value.type_name();
}

// "listeners[].name" -> "string", for everything that is neither object nor array.
void CollectKeys(const json& value, const std::string& path,
                 std::map<std::string, std::string>* out) {
  if (value.is_object()) {
    const std::string prefix = path.empty() ? "" : path + ".";
    for (const auto& [key, inner] : value.items()) CollectKeys(inner, prefix + key, out);
  } else if (value.is_array()) {
    for (const auto& inner : value) CollectKeys(inner, path + "[]", out);
  } else {
    (*out)[path] = TypeOf(value);
  }
}

std::map<std::string, std::string> DocumentedKeys() {
  std::map<std::string, std::string> keys;
  std::ifstream manual(RINGDEAL_SOURCE_DIR "/docs/status.md");
  for (std::string line; std::getline(manual, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const size_t key_end = line.find('`', 3);
    const size_t type = key_end + 4;  // "` | "
    keys[line.substr(3, key_end - 3)] = line.substr(type, line.find(' ', type) - type);
  }
  return keys;
}

TEST(StatusDocument, IsWhatTheManualSays) {
  Snapshot snapshot = SampleSnapshot();
  snapshot.control_refusals = {{"*", 1}};
  snapshot.config_reloads = {{"*", 1}};
  snapshot.listeners[0].accept_errors = {{"*", 1}};
  snapshot.listeners[0].handoffs = {{"*", 1}};
  snapshot.listeners[0].deals_by_ring = {{"*", 1}};
  snapshot.listeners[0].recalls = {{"*", 1}};
  std::map<std::string, std::string> rendered;
  CollectKeys(json::parse(RenderStatus(snapshot)), "", &rendered);
  EXPECT_EQ(rendered, DocumentedKeys());
}

TEST(StatusDocument, CarriesEveryValue) {
  Snapshot snapshot = SampleSnapshot();
  snapshot.listeners[0].workers.resize(1);
  const json expected = json::parse(R"({
    "version": 1, "ringdeald": "9.8.7", "pid": 70003, "uptime_seconds": 64.5,
    "control_connections": 301, "control_refusals": {"not-allowed": 302},
    "config_reloads": {"applied": 310, "failed": 311}, "config_last_reload_successful": false,
    "recall_threads_abandoned": 303, "acceptor_unblocked": 304, "http_connections": 305,
    "http_connections_full": 306, "http_timeouts": 307,
    "http_streams": 312, "http_streams_full": 313, "http_streams_dropped": 314,
    "adopt": {"uids": [308], "gids": [309]},
    "topology": [{"parent": 0, "ring": 4, "cpus": "0-3,8"}],
    "listeners": [{
      "name": "web", "address": "127.0.0.1:8080", "policy": "least-loaded", "mode": "holding",
      "owned": true, "allow": {"uids": [213], "gids": [214]}, "accepted": 201, "accept_errors": {"EMFILE": 202, "ECONNABORTED": 203},
      "handoffs": {"delivered": 204, "full": 205}, "redealt": 206, "recalls": {"left": 222, "overdue": 223}, "long_passes": 224, "holds": 207,
      "held_seconds": 1.5, "rate_pauses": 220, "rate_paused_seconds": 2.5, "no_worker_resets": 221, "kept": 208, "free_percent": 62.5, "workers_joined": 209, "workers_left": 210,
      "counters_clamped": 211, "workers_stuck": 219, "listener_repairs": 212, "deals_by_ring": {"0": 215, "3": 216},
      "turned_away": 217, "decks_dealt": 218, "deck": [{"cpu": 6, "workers": [
        {"slot": 0, "share": 0.25, "ring": 1}, {"slot": 4, "share": 0.5, "ring": 3}]}],
      "workers": [{
        "slot": 0, "pid": 70001, "uid": 70002, "state": "worker", "one_at_a_time": true,
        "weight": 103, "weight_part": 0.5, "cpus": "0-3,8", "placement": "learned", "active": 104, "pending": 105,
        "queued": 106, "load": 107, "handed": 108, "recalled": 109, "taken": 110, "closed": 111,
        "direct": 112, "pass_seconds": 0.25}]}]})");
  EXPECT_EQ(json::parse(RenderStatus(snapshot)), expected);
}

TEST(StatusDocument, IsOneLineThatBeginsWithItsVersion) {
  const std::string text = RenderStatus(SampleSnapshot());
  EXPECT_EQ(text.rfind("{\"version\":1,\"ringdeald\":\"9.8.7\",", 0), 0u) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(StatusDocument, HasObjectsAndArraysWhereThereIsNothing) {
  Snapshot snapshot;
  snapshot.listeners.emplace_back();
  const json document = json::parse(RenderStatus(snapshot));
  EXPECT_EQ(document["control_refusals"], json::object());
  EXPECT_EQ(document["listeners"][0]["accept_errors"], json::object());
  EXPECT_EQ(document["listeners"][0]["handoffs"], json::object());
  EXPECT_EQ(document["listeners"][0]["workers"], json::array());
  EXPECT_EQ(document["listeners"][0]["deck"], json::array());
  EXPECT_EQ(document["topology"], json::array());
  EXPECT_EQ(json::parse(RenderStatus(Snapshot()))["listeners"], json::array());
}

TEST(StatusDocument, KeepsLargeCountsExact) {
  Snapshot snapshot = SampleSnapshot();
  snapshot.listeners[0].accepted = 18446744073709551615u;
  EXPECT_EQ(json::parse(RenderStatus(snapshot))["listeners"][0]["accepted"], 18446744073709551615u);
}

TEST(StatusDocument, LetsNoNameBreakItsString) {
  Snapshot snapshot;
  snapshot.listeners.push_back(SampleListener(kHostileName));
  snapshot.listeners[0].accept_errors = {{kHostileName, 1}};
  const std::string text = RenderStatus(snapshot);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const json document = json::parse(text);
  EXPECT_EQ(document["listeners"][0]["name"], kHostileNameAsUtf8);
  EXPECT_EQ(document["listeners"][0]["accept_errors"].size(), 1u);
}

}  // namespace
}  // namespace ringdeal
