#include "daemon/operating/reload_plan.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "daemon/accepting/listening_socket.h"
#include "daemon/operating/config_keys.h"

namespace ringdeal {
namespace {

// Both are fields of one key, so of one type.
bool AreEqual(const ConfigField& one, const ConfigField& other) {
  return std::visit([&other](auto* value) { return *value == *std::get<decltype(value)>(other); },
                    one);
}

void Copy(const ConfigField& from, const ConfigField& to) {
  std::visit([&to](auto* value) { *std::get<decltype(value)>(to) = *value; }, from);
}

// Whether they name one socket, though perhaps in two spellings.
bool HaveOneAddress(const ListenerConfig& one, const ListenerConfig& other) {
  return one.bind == other.bind || CanonicalAddress(one.bind) == CanonicalAddress(other.bind);
}

const ListenerConfig* FindListener(const Config& config, const std::string& name) {
  for (const ListenerConfig& listener : config.listeners) {
    if (listener.name == name) return &listener;
  }
  return nullptr;
}

void AddOnce(const std::string& name, std::vector<std::string>* names) {
  if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
}

class Planner {
 public:
  // By value: a field of a key is found in what may be changed.
  Planner(Config in_force, const Config& read) : in_force_(std::move(in_force)) {
    plan_.config = read;
  }

  ReloadPlan Make() {
    for (const ConfigKey& key : ConfigKeys()) {
      if (key.section != kListenersSection) CompareKey(key);
    }
    for (ListenerConfig& listener : plan_.config.listeners) CompareListener(&listener);
    for (const ListenerConfig& before : in_force_.listeners) {
      const ListenerConfig* now = FindListener(plan_.config, before.name);
      if (now == nullptr || !HaveOneAddress(before, *now)) plan_.removed.push_back(before.name);
    }
    return std::move(plan_);
  }

 private:
  void CompareKey(const ConfigKey& key) {
    const ConfigField now = key.field(plan_.config, plan_.config.adopted);
    const ConfigField before = key.field(in_force_, in_force_.adopted);
    if (AreEqual(now, before)) return;
    if (key.takes_effect == TakesEffect::kAtReload)
      return plan_.changed_keys.push_back(FullName(key));
    plan_.needs_restart.push_back(FullName(key));
    Copy(before, now);
  }

  void CompareListener(ListenerConfig* listener) {
    const ListenerConfig* found = FindListener(in_force_, listener->name);
    if (found == nullptr || !HaveOneAddress(*found, *listener)) {
      return plan_.added.push_back(*listener);
    }
    ListenerConfig before = *found;
    listener->bind = before.bind;
    ReloadPlan::Change change{listener->name, {}};
    for (const ConfigKey& key : ConfigKeys()) {
      if (key.section != kListenersSection) continue;
      const ConfigField now_field = key.field(plan_.config, *listener);
      const ConfigField before_field = key.field(in_force_, before);
      if (AreEqual(now_field, before_field)) continue;
      if (key.takes_effect == TakesEffect::kAtReload) {
        change.keys.emplace_back(key.name);
      } else {
        AddOnce(FullName(key), &plan_.needs_restart);
        Copy(before_field, now_field);
      }
    }
    if (!change.keys.empty()) plan_.changed.push_back(std::move(change));
  }

  Config in_force_;
  ReloadPlan plan_;
};

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

ReloadPlan PlanReload(const Config& in_force, const Config& read) {
  return Planner(in_force, read).Make();
}

std::string Describe(const ReloadPlan& plan) {
  std::vector<std::string> added;
  for (const ListenerConfig& listener : plan.added) added.push_back(listener.name);
  std::vector<std::string> changed;
  for (const ReloadPlan::Change& change : plan.changed) {
    changed.push_back(change.listener + " (" + Join(change.keys) + ")");
  }
  changed.insert(changed.end(), plan.changed_keys.begin(), plan.changed_keys.end());
  std::string text;
  const auto say = [&text](const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    if (!text.empty()) text += "; ";
    text += what + Join(names);
  };
  say("added: ", added);
  say("removed: ", plan.removed);
  say("changed: ", changed);
  say("needs a restart: ", plan.needs_restart);
  return text.empty() ? "nothing changed" : text;
}

}  // namespace ringdeal
