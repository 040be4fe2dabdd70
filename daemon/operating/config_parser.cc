#include "daemon/operating/config_parser.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <sstream>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "daemon/operating/config_keys.h"
#include "daemon/operating/config_spelling.h"
#include "daemon/operating/config_values.h"
#include "protocol/socket_address.h"
#include "protocol/unique_fd.h"

namespace ringdeal {
namespace {

// Where the value of each key was that a group of keys had.
using Places = std::map<std::string, YAML::Mark, std::less<>>;

// Walks the document once. Each step returns false when it met a problem, which it has noted.
class Parser {
 public:
  Parser(const std::string& file_name, std::span<const std::string_view> policies)
      : file_name_(file_name), policies_(policies) {}

  Result<Config, ConfigError> Parse(const std::string& text);

 private:
  bool ReadDocument(const YAML::Node& top);
  bool CheckEnd(const std::string& text);
  bool ReadSection(const std::string& section, const YAML::Node& value);
  bool ReadListeners(const YAML::Node& list);
  bool ReadListener(const YAML::Node& node);
  bool ReadGroup(std::string_view section, const YAML::Node& group, ListenerConfig* listener,
                 Places* places);
  bool ReadValue(const ConfigKey& key, const YAML::Node& value, ListenerConfig* listener);
  bool ReadPrincipals(const ConfigKey& key, const YAML::Node& list, Principals* principals);
  bool CheckFamily(const ListenerConfig& listener, const Places& places);
  bool CheckUnique(const ListenerConfig& listener, const Places& places);
  bool CheckHttp();

  bool Unknown(std::string_view section, const YAML::Node& name);
  bool Fail(const YAML::Mark& mark, const std::string& problem);

  const std::string& file_name_;
  const std::span<const std::string_view> policies_;
  Config config_;
  std::map<std::string, YAML::Mark> taken_addresses_;  // of listeners, in one spelling
  std::string problem_;
};

// Notes where a document begins and lets all that it holds pass.
struct DocumentStart : YAML::EventHandler {
  void OnDocumentStart(const YAML::Mark& begin) override { mark = begin; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  YAML::Mark mark;
};

std::string WhereIs(std::string_view section) {
  if (section == kTopSection) return "at the top";
  if (section == kListenersSection) return "in listener";
  return "in " + std::string(section);
}

Result<Config, ConfigError> Parser::Parse(const std::string& text) {
  try {
    if (ReadDocument(YAML::Load(text)) && CheckEnd(text)) return std::move(config_);
  } catch (const YAML::Exception& exception) {
    Fail(exception.mark, "no valid YAML: " + exception.msg);
  } catch (const std::exception& exception) {
    Fail(YAML::Mark(), std::string("cannot be read: ") + exception.what());
  }
  return ConfigError{problem_};
}

bool Parser::ReadDocument(const YAML::Node& top) {
  ListenerConfig none;
  Places places;
  return ReadGroup(kTopSection, top, &none, &places) && CheckHttp();
}

// YAML::Load is content with the first document and drops the rest, also what follows a stray
// bracket. (YAML::LoadAll finds null documents without end there.)
bool Parser::CheckEnd(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStart start;
  if (!parser.HandleNextDocument(start) || !parser.HandleNextDocument(start)) return true;
  return Fail(start.mark,
              "the document ended before this; keep one in a file, and look for a stray "
              "bracket, comma or '---'");
}

bool Parser::ReadSection(const std::string& section, const YAML::Node& value) {
  if (section == kListenersSection) return ReadListeners(value);
  Places places;
  return ReadGroup(section, value, &config_.adopted, &places);
}

bool Parser::ReadListeners(const YAML::Node& list) {
  if (list.IsNull()) return true;
  if (!list.IsSequence()) {
    return Fail(list.Mark(), "'listeners' must be a list; begin each listener with '- name: ...'");
  }
  for (const YAML::Node& node : list) {
    if (!ReadListener(node)) return false;
  }
  return true;
}

bool Parser::ReadListener(const YAML::Node& node) {
  ListenerConfig listener;
  Places places;
  if (!ReadGroup(kListenersSection, node, &listener, &places)) return false;
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.section != kListenersSection || !key.required() || places.contains(key.name)) continue;
    return Fail(node.Mark(), "listener has no '" + std::string(key.name) + "'; add it");
  }
  if (!CheckFamily(listener, places) || !CheckUnique(listener, places)) return false;
  config_.listeners.push_back(std::move(listener));
  return true;
}

// A group of keys under `section`, or the whole document. Nothing (all commented out) is an empty
// group.
bool Parser::ReadGroup(std::string_view section, const YAML::Node& group, ListenerConfig* listener,
                       Places* places) {
  if (group.IsNull()) return true;
  if (!group.IsMap()) {
    return Fail(group.Mark(), "'key: value' lines are expected " + WhereIs(section) +
                                  "; known: " + JoinWords(NamesInSection(section)));
  }
  for (const auto& pair : group) {
    if (!pair.first.IsScalar()) return Fail(pair.first.Mark(), "a key must be one word");
    const std::string& name = pair.first.Scalar();
    const ConfigKey* key = FindConfigKey(section, name);
    const bool opens_section = section == kTopSection && IsConfigSection(name);
    if (key == nullptr && !opens_section) return Unknown(section, pair.first);
    if (!places->emplace(name, pair.second.Mark()).second) {
      return Fail(pair.first.Mark(), "'" + name + "' is given twice; keep one of them");
    }
    if (!opens_section && pair.second.IsNull()) {
      return Fail(pair.first.Mark(), "'" + name + "' has no value; leave it out for the default");
    }
    const bool good =
        opens_section ? ReadSection(name, pair.second) : ReadValue(*key, pair.second, listener);
    if (!good) return false;
  }
  return true;
}

bool Parser::ReadValue(const ConfigKey& key, const YAML::Node& value, ListenerConfig* listener) {
  const std::string quoted_name = "'" + std::string(key.name) + "'";
  const ConfigField field = key.field(config_, *listener);
  if (auto* const* principals = std::get_if<Principals*>(&field)) {
    return ReadPrincipals(key, value, *principals);
  }
  if (auto* const* adopt = std::get_if<AdoptConfig*>(&field); adopt && value.IsSequence()) {
    (*adopt)->listed = true;
    return ReadPrincipals(key, value, &(*adopt)->principals);
  }
  if (!value.IsScalar()) {
    return Fail(value.Mark(), quoted_name + " takes one value: " + std::string(key.unit));
  }
  const std::string problem = StoreValue(key, field, value.Scalar(), policies_);
  return problem.empty() || Fail(value.Mark(), problem);
}

bool Parser::ReadPrincipals(const ConfigKey& key, const YAML::Node& list, Principals* principals) {
  constexpr char kExample[] = " must be a list of users and groups, such as [www-data, \"@adm\"]";
  if (!list.IsSequence()) return Fail(list.Mark(), "'" + std::string(key.name) + "'" + kExample);
  for (const YAML::Node& each : list) {
    if (!each.IsScalar()) return Fail(each.Mark(), "'" + std::string(key.name) + "'" + kExample);
    const std::string problem = StoreValue(key, principals, each.Scalar(), policies_);
    if (!problem.empty()) return Fail(each.Mark(), problem);
  }
  return true;
}

// What only one family of addresses has must not be said of another: it would be ignored.
bool Parser::CheckFamily(const ListenerConfig& listener, const Places& places) {
  const bool has_path = listener.bind.rfind("unix:/", 0) == 0;
  const ListenerConfig usual;
  const std::string of_path =
      "' is for a UNIX socket's path only; leave it out of " + listener.bind;
  const auto mark = [&](const char* name) { return places.find(name)->second; };
  if (!has_path && listener.mode != usual.mode) return Fail(mark("mode"), "'mode" + of_path);
  if (!has_path && listener.owner != usual.owner) return Fail(mark("owner"), "'owner" + of_path);
  if (!has_path && listener.group != usual.group) return Fail(mark("group"), "'group" + of_path);
  if (listener.ipv6_only && listener.bind[0] != '[') {
    return Fail(mark("ipv6_only"),
                "'ipv6_only' is for an IPv6 address only; leave it out of " + listener.bind);
  }
  return true;
}

// One spelling for each address. Empty if its port is the kernel's choice: then all are different.
std::string PlainAddress(const std::string& text) {
  SocketAddress address;
  char plain[kMaxAddressText];
  if (!ParseAddress(text.c_str(), &address)) return {};
  if (!FormatAddress(address, plain, sizeof(plain))) return {};
  const std::string_view view = plain;
  return view.ends_with(":0") && address.family() != AF_UNIX ? std::string() : plain;
}

bool Parser::CheckUnique(const ListenerConfig& listener, const Places& places) {
  for (const ListenerConfig& other : config_.listeners) {
    if (other.name == listener.name) {
      return Fail(places.find("name")->second,
                  "a second listener is named '" + listener.name + "'; give each its own name");
    }
  }
  const std::string plain = PlainAddress(listener.bind);
  if (plain.empty()) return true;
  const YAML::Mark& mark = places.find("bind")->second;
  return taken_addresses_.emplace(plain, mark).second ||
         Fail(mark, "another listener has the address " + plain + " already; choose one for each");
}

bool Parser::CheckHttp() {
  const auto taken = taken_addresses_.find(PlainAddress(config_.http_bind));
  if (taken == taken_addresses_.end()) return true;
  return Fail(taken->second, "HTTP is served at " + taken->first +
                                 " already; choose another address here, or for 'bind' in http");
}

bool Parser::Unknown(std::string_view section, const YAML::Node& name) {
  std::string problem = "unknown key " + Quote(name.Scalar()) + " " + WhereIs(section);
  const auto names = NamesInSection(section);
  if (NearestWord(name.Scalar(), names).empty()) {
    for (const ConfigKey& key : ConfigKeys()) {
      if (key.name != name.Scalar()) continue;
      return Fail(name.Mark(), problem + "; it belongs " + WhereIs(key.section));
    }
  }
  return Fail(name.Mark(), problem + SpellingHint(name.Scalar(), names));
}

bool Parser::Fail(const YAML::Mark& mark, const std::string& problem) {
  const YAML::Mark known = mark.is_null() ? YAML::Mark() : mark;
  problem_ = file_name_ + ":" + std::to_string(known.line + 1) + ":" +
             std::to_string(known.column + 1) + ": " + problem;
  // yaml-cpp repeats what it met, a line's end or what a terminal obeys too.
  for (char& byte : problem_) {
    const bool controls = static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f;
    if (controls) byte = byte == '\n' ? ' ' : '?';
  }
  return false;
}

Result<std::string, SystemError> ReadWholeFile(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return SystemError{errno, "cannot be opened"};
  std::string text;
  char block[16 * 1024];
  while (true) {
    const ssize_t bytes = read(file.get(), block, sizeof(block));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return SystemError{errno, "cannot be read"};
    if (bytes == 0) return text;
    text.append(block, static_cast<size_t>(bytes));
    if (text.size() > kMaxConfigBytes) return SystemError{EFBIG, "is larger than 1 MiB"};
  }
}

}  // namespace

Result<Config, ConfigError> ParseConfig(std::string_view text, const std::string& file_name,
                                        std::span<const std::string_view> policies) {
  return Parser(file_name, policies).Parse(std::string(text));
}

Result<Config, ConfigError> LoadConfig(const std::string& path, MissingFile missing,
                                       std::span<const std::string_view> policies) {
  const auto text = ReadWholeFile(path);
  if (!text.ok()) {
    const SystemError& error = text.error();
    if (error.number == ENOENT && missing == MissingFile::kMeansDefaults) return Config();
    return ConfigError{path + ": " + error.step + ": " + std::strerror(error.number)};
  }
  auto config = ParseConfig(*text, path, policies);
  if (config.ok()) config->source = path;
  return config;
}

}  // namespace ringdeal
