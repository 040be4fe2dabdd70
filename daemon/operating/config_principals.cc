#include "daemon/operating/config_principals.h"

#include <grp.h>
#include <pwd.h>

#include <charconv>
#include <cstdint>
#include <limits>

#include "daemon/operating/config_spelling.h"

namespace ringdeal {
namespace {

// The highest number means "nobody in particular" to chown and the like: it names no user.
std::optional<uint32_t> ParseId(const std::string& text) {
  uint32_t id = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, id);
  if (error != std::errc() || stop != end || id == std::numeric_limits<uint32_t>::max()) return {};
  return id;
}

}  // namespace

std::optional<uid_t> FindUser(const std::string& name) {
  if (const auto id = ParseId(name)) return *id;
  const passwd* entry = getpwnam(name.c_str());
  if (entry == nullptr) return {};
  return entry->pw_uid;
}

std::optional<gid_t> FindGroup(const std::string& name) {
  if (const auto id = ParseId(name)) return *id;
  const group* entry = getgrnam(name.c_str());
  if (entry == nullptr) return {};
  return entry->gr_gid;
}

std::string AddPrincipal(const std::string& text, Principals* principals) {
  if (text.empty()) return "an empty name is no user; write a user, or \"@\" and a group";
  if (text[0] != '@') {
    const auto uid = FindUser(text);
    if (!uid) return "unknown user " + Quote(text) + "; create it, or write its uid";
    principals->uids.push_back(*uid);
    return {};
  }
  const auto gid = FindGroup(text.substr(1));
  if (!gid) return "unknown group " + Quote(text.substr(1)) + "; create it, or write its gid";
  principals->gids.push_back(*gid);
  return {};
}

}  // namespace ringdeal
