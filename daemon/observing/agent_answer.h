// What HAProxy's agent check is told of a listener. Pure; any thread.
#pragma once

#include <string>

#include "daemon/observing/snapshot.h"

namespace ringdeal {

// One line: "ready up 75%" (the part of its weight that the host is to have), "drain" if all its
// workers are being drained, "down" if there are none.
std::string AgentAnswer(const ListenerSnapshot& listener);
inline constexpr char kAgentDown[] = "down\n";

}  // namespace ringdeal
