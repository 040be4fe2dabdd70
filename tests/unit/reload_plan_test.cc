// A reload must touch what has changed, leave alone what has not, and promise nothing that needs a
// restart.
#include "daemon/operating/reload_plan.h"

#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/operating/config_keys.h"

namespace ringdeal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ListenerConfig ListenerAt(const std::string& name, const std::string& bind) {
  ListenerConfig listener;
  listener.name = name;
  listener.bind = bind;
  return listener;
}

Config TwoListeners() {
  Config config;
  config.listeners = {ListenerAt("a", "127.0.0.1:1"), ListenerAt("b", "127.0.0.1:2")};
  return config;
}

std::vector<std::string> NamesOf(const std::vector<ListenerConfig>& listeners) {
  std::vector<std::string> names;
  for (const ListenerConfig& listener : listeners) names.push_back(listener.name);
  return names;
}

TEST(ReloadPlan, OfTheSameFileChangesNothing) {
  const ReloadPlan plan = PlanReload(TwoListeners(), TwoListeners());
  EXPECT_EQ(plan.config, TwoListeners());
  EXPECT_EQ(Describe(plan), "nothing changed");
}

TEST(ReloadPlan, AListenerWithAnotherOrderOrSpellingStays) {
  Config read = TwoListeners();
  std::swap(read.listeners[0], read.listeners[1]);
  Config in_force = TwoListeners();
  in_force.listeners.push_back(ListenerAt("c", "*:3"));
  read.listeners.push_back(ListenerAt("c", "0.0.0.0:3"));
  EXPECT_EQ(Describe(PlanReload(in_force, read)), "nothing changed");
}

TEST(ReloadPlan, ListenersComeAndGoByName) {
  Config read = TwoListeners();
  read.listeners[0] = ListenerAt("c", "127.0.0.1:3");
  const ReloadPlan plan = PlanReload(TwoListeners(), read);
  EXPECT_THAT(NamesOf(plan.added), ElementsAre("c"));
  EXPECT_THAT(plan.removed, ElementsAre("a"));
  EXPECT_THAT(plan.changed, IsEmpty());
  EXPECT_EQ(plan.config, read);
  EXPECT_EQ(Describe(plan), "added: c; removed: a");
}

TEST(ReloadPlan, AListenerWithAnotherAddressIsANewOne) {
  Config read = TwoListeners();
  read.listeners[1].bind = "127.0.0.1:3";
  read.listeners[1].ipv6_only = true;  // of a new one it needs no restart
  const ReloadPlan plan = PlanReload(TwoListeners(), read);
  EXPECT_THAT(NamesOf(plan.added), ElementsAre("b"));
  EXPECT_THAT(plan.removed, ElementsAre("b"));
  EXPECT_THAT(plan.needs_restart, IsEmpty());
  EXPECT_TRUE(plan.added[0].ipv6_only);
}

TEST(ReloadPlan, KeysOfAListenerAreNamedWithIt) {
  Config read = TwoListeners();
  read.listeners[1].policy = "round-robin";
  read.listeners[1].allow.uids = {7};
  const ReloadPlan plan = PlanReload(TwoListeners(), read);
  ASSERT_EQ(plan.changed.size(), 1u);
  EXPECT_EQ(plan.changed[0].listener, "b");
  EXPECT_THAT(plan.changed[0].keys, ElementsAre("policy", "allow"));
  EXPECT_EQ(plan.config, read);
  EXPECT_EQ(Describe(plan), "changed: b (policy, allow)");
}

TEST(ReloadPlan, WhatNeedsARestartStaysAsItWas) {
  Config read = TwoListeners();
  read.acceptors = 2;
  read.control.path = "/other";
  read.http_bind = "127.0.0.1:9";
  read.log.level = "debug";
  read.listeners[0].ipv6_only = read.listeners[1].ipv6_only = true;
  const ReloadPlan plan = PlanReload(TwoListeners(), read);
  Config expected = TwoListeners();
  expected.log.level = "debug";
  EXPECT_EQ(plan.config, expected);
  EXPECT_EQ(Describe(plan),
            "changed: log.level; needs a restart: acceptors, control.path, http.bind, "
            "listeners.ipv6_only");
}

// Of every key there is: a new one is not forgotten.
TEST(ReloadPlan, NoKeyIsOverlooked) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.section == kListenersSection && key.required()) continue;
    Config read = TwoListeners();
    ListenerConfig& listener =
        key.section == kAdoptedSection ? read.adopted : read.listeners.front();
    struct Change {
      void operator()(std::string* value) const { *value += "x"; }
      void operator()(bool* value) const { *value = !*value; }
      void operator()(int* value) const { ++*value; }
      void operator()(size_t* value) const { ++*value; }
      void operator()(double* value) const { ++*value; }
      void operator()(mode_t* value) const { ++*value; }
      void operator()(Duration* value) const { ++*value; }
      void operator()(Principals* value) const { value->uids.push_back(7); }
      void operator()(AdoptConfig* value) const { value->enabled = !value->enabled; }
    };
    std::visit(Change(), key.field(read, listener));
    const ReloadPlan plan = PlanReload(TwoListeners(), read);
    const bool at_restart = key.takes_effect == TakesEffect::kAtRestart;
    EXPECT_EQ(plan.config, at_restart ? TwoListeners() : read) << FullName(key);
    EXPECT_NE(Describe(plan).find(std::string(key.name)), std::string::npos) << FullName(key);
    EXPECT_EQ(plan.needs_restart.size(), at_restart ? 1u : 0u) << FullName(key);
  }
}

}  // namespace
}  // namespace ringdeal
