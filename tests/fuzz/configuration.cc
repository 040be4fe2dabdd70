// A configuration file of any content: what is taken is within the ranges that the manual gives,
// what is refused is told in one printable line that says where.
#include <algorithm>
#include <string>
#include <variant>

#include "daemon/operating/config_keys.h"
#include "daemon/operating/config_parser.h"
#include "daemon/operating/config_values.h"
#include "tests/fuzz/require.h"

namespace ringdeal {
namespace {

constexpr std::string_view kPolicies[] = {"ring-deal", "least-loaded", "round-robin",
                                          "exact-claim"};

struct InRange {
  const ConfigKey& key;

  bool operator()(const int* value) const { return *value >= key.least && *value <= key.most; }
  bool operator()(const size_t* value) const {
    return *value >= static_cast<size_t>(key.least) && *value <= static_cast<size_t>(key.most);
  }
  bool operator()(const double* value) const {
    return *value >= static_cast<double>(key.least) && *value <= static_cast<double>(key.most);
  }
  bool operator()(const Duration* value) const {
    return value->count() >= key.least && value->count() <= key.most;
  }
  bool operator()(const mode_t* value) const { return *value <= 0777; }
  bool operator()(const std::string* value) const { return value->find('\0') == std::string::npos; }
  bool operator()(const bool*) const { return true; }
  bool operator()(const Principals*) const { return true; }
  bool operator()(const AdoptConfig*) const { return true; }
};

void CheckSection(std::string_view section, Config* config, ListenerConfig* listener) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.section != section) continue;
    Require(std::visit(InRange{key}, key.field(*config, *listener)), "a value in its key's range");
  }
}

void CheckRanges(Config* config) {
  ListenerConfig none;
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.section == kListenersSection) continue;
    CheckSection(key.section, config, key.section == kAdoptedSection ? &config->adopted : &none);
  }
  for (ListenerConfig& listener : config->listeners) {
    Require(!listener.name.empty() && !listener.bind.empty(), "a listener has a name and address");
    CheckSection(kListenersSection, config, &listener);
  }
}

bool IsPrintableLine(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](char byte) {
    return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f;
  });
}

}  // namespace
}  // namespace ringdeal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringdeal;
  auto config = ParseConfig({reinterpret_cast<const char*>(data), size}, "f.yaml", kPolicies);
  if (config.ok()) {
    CheckRanges(&*config);
    return 0;
  }
  const std::string& text = config.error().text;
  Require(text.starts_with("f.yaml:"), "a mistake has a place");
  Require(IsPrintableLine(text), "a mistake is told in one printable line");
  return 0;
}
