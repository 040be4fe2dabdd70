// Users and groups of the configuration, looked up in the system's databases, which may block: at
// start, on the control thread only.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "daemon/operating/config.h"

namespace ringdeal {

// By name, or by number in digits. A number need not be in the database.
std::optional<uid_t> FindUser(const std::string& name);
std::optional<gid_t> FindGroup(const std::string& name);

// Adds "user", "1000", "@group" or "@1000". Returns what is wrong, or an empty text.
std::string AddPrincipal(const std::string& text, Principals* principals);

}  // namespace ringdeal
