// The table of keys, the manual and the full sample say the same.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/dealing/policy.h"
#include "daemon/operating/config_keys.h"
#include "daemon/operating/config_parser.h"

namespace ringdeal {
namespace {

constexpr std::string_view kPolicies[] = {"ring-deal", "least-loaded", "round-robin"};

std::string ReadSource(const std::string& name) {
  std::ifstream file(std::string(RINGDEAL_SOURCE_DIR) + "/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The "section.key" of each line of a sample, with the text of its value. Enough YAML for our own
// samples: two levels, and "- " before the first key of a listener.
std::multimap<std::string, std::string> KeysOfSample(const std::string& text) {
  std::multimap<std::string, std::string> keys;
  std::string section;
  for (const std::string& line : Lines(text)) {
    const size_t start = line.find_first_not_of(" -");
    if (start == std::string::npos || line[start] == '#') continue;
    const size_t colon = line.find(':', start);
    const std::string name = line.substr(start, colon - start);
    const size_t value = line.find_first_not_of(' ', colon + 1);
    if (start == 0) section.clear();
    if (value == std::string::npos) {
      section = name + ".";
    } else {
      keys.emplace(section + name, line.substr(value));
    }
  }
  return keys;
}

std::string ManualRow(const ConfigKey& key) {
  const std::string value = key.required() ? "required" : "`" + std::string(key.default_text) + "`";
  return "| `" + std::string(key.name) + "` | " + value + " | " + std::string(key.unit) + " | " +
         RangeOf(key) + " | " + std::string(key.help) + " |";
}

// The rows of the tables of keys in the manual, each with the section that its heading names.
std::vector<std::pair<std::string, std::string>> RowsOfManual() {
  std::vector<std::pair<std::string, std::string>> rows;
  std::string section;
  bool in_keys = false;
  for (const std::string& line : Lines(ReadSource("docs/configuration.md"))) {
    if (line.starts_with("#")) {
      const size_t begin = line.find('`');
      section =
          begin == std::string::npos ? "" : line.substr(begin + 1, line.rfind('`') - begin - 1);
    }
    if (line.starts_with("| key ")) in_keys = true;
    if (line.empty()) in_keys = false;
    if (in_keys && line.starts_with("| `")) rows.emplace_back(section, line);
  }
  return rows;
}

TEST(ConfigManual, LacksNoKeyAndInventsNone) {
  std::vector<std::pair<std::string, std::string>> expected;
  for (const ConfigKey& key : ConfigKeys()) {
    expected.emplace_back(std::string(key.section), ManualRow(key));
  }
  const auto rows = RowsOfManual();
  for (size_t i = 0; i < std::max(rows.size(), expected.size()); ++i) {
    ASSERT_LT(i, rows.size()) << "missing: " << expected[i].second;
    ASSERT_LT(i, expected.size()) << "not in the table of keys: " << rows[i].second;
    EXPECT_EQ(rows[i], expected[i]);
  }
}

TEST(ConfigManual, SaysWhatAReloadDoesNotChange) {
  std::string names;
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.takes_effect != TakesEffect::kAtRestart) continue;
    names += (names.empty() ? "`" : ", `") + FullName(key) + "`";
  }
  const std::vector<std::string> lines = Lines(ReadSource("docs/configuration.md"));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), names), 1) << names;
}

TEST(ConfigManual, LacksNoPolicy) {
  const std::string manual = ReadSource("docs/configuration.md");
  for (const Policy& policy : Policies()) {
    EXPECT_NE(manual.find("| `" + std::string(policy.name) + "` |"), std::string::npos)
        << policy.name;
  }
}

TEST(ConfigSample, FullOneLacksNoKeyAndInventsNone) {
  std::set<std::string> expected;
  for (const ConfigKey& key : ConfigKeys()) expected.insert(FullName(key));
  std::set<std::string> found;
  for (const auto& [name, value] : KeysOfSample(ReadSource("config/ringdeal.full.yaml"))) {
    EXPECT_TRUE(found.insert(name).second) << name << " is named twice";
  }
  EXPECT_EQ(found, expected);
}

TEST(ConfigSample, FullOneSaysNoOtherDefaultThanTheTable) {
  const auto sample = KeysOfSample(ReadSource("config/ringdeal.full.yaml"));
  for (const ConfigKey& key : ConfigKeys()) {
    const auto found = sample.find(FullName(key));
    ASSERT_NE(found, sample.end()) << FullName(key);
    if (key.required()) continue;
    EXPECT_EQ(found->second, key.default_text) << FullName(key);
  }
}

TEST(ConfigSample, FullOneChangesNothing) {
  auto config = ParseConfig(ReadSource("config/ringdeal.full.yaml"), "full", kPolicies);
  ASSERT_TRUE(config.ok()) << config.error().text;
  ListenerConfig listener;
  listener.name = "web";
  listener.bind = "127.0.0.1:8080";
  ASSERT_EQ(config->listeners, std::vector<ListenerConfig>{listener});
  config->listeners.clear();
  EXPECT_EQ(*config, Config());
}

TEST(ConfigSample, MinimalAndAdoptedOnesAreNotRefused) {
  const auto minimal = ParseConfig(ReadSource("config/ringdeal.minimal.yaml"), "min", kPolicies);
  ASSERT_TRUE(minimal.ok()) << minimal.error().text;
  EXPECT_EQ(minimal->listeners.size(), 1u);
  const auto adopted = ParseConfig(ReadSource("config/ringdeal.adopted.yaml"), "ad", kPolicies);
  // The users and groups that it names exist on Debian; elsewhere they need not.
  if (!adopted.ok()) {
    const std::string& line = adopted.error().text;
    EXPECT_TRUE(line.find("unknown user") != line.npos || line.find("unknown group") != line.npos)
        << line;
    return;
  }
  EXPECT_TRUE(adopted->adopt.listed);
  EXPECT_TRUE(adopted->listeners.empty());
}

// Those of listeners are held by FullOneChangesNothing.
TEST(ConfigKeys, DefaultTextsDoNotDriftFromTheStruct) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.required() || key.section == kListenersSection) continue;
    const std::string line = std::string(key.name) + ": " + std::string(key.default_text) + "\n";
    const std::string text =
        key.section == kTopSection ? line : std::string(key.section) + ":\n  " + line;
    const auto config = ParseConfig(text, "defaults", kPolicies);
    ASSERT_TRUE(config.ok()) << config.error().text;
    EXPECT_EQ(*config, Config()) << text;
  }
}

TEST(ConfigKeys, NoneIsDescribedTwiceOrWithoutHelp) {
  std::set<std::string> names;
  for (const ConfigKey& key : ConfigKeys()) {
    EXPECT_TRUE(names.insert(FullName(key)).second) << FullName(key);
    EXPECT_FALSE(key.help.empty() || key.unit.empty()) << FullName(key);
    EXPECT_EQ(key.help.find_first_of("|\n"), std::string_view::npos) << FullName(key);
    EXPECT_LE(key.least, key.most) << FullName(key);
  }
}

}  // namespace
}  // namespace ringdeal
