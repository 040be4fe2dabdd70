// The shim's constructor: what must be known before the program's main.
#include <cstdlib>

#include "client-shim/preload/connections.h"
#include "client-shim/preload/listener.h"
#include "client-shim/preload/process.h"
#include "client-shim/preload/process_directory.h"
#include "client-shim/preload/real_calls.h"
#include "client-shim/preload/settings.h"
#include "protocol/socket_identity.h"

namespace ringdeal::shim {
namespace {

// Listening sockets that came over exec, or from a service manager: the program may never call
// listen on them.
bool TrackIfListening(void*, const char* name, int) {
  const int number = std::atoi(name);
  if (IsListening(number)) listeners::Track(number);
  return true;
}

void AfterFork() {
  listeners::AfterFork();
  connections::AfterFork();
}

__attribute__((constructor(101))) void Start() {
  real::Resolve();
  ReadEnvironment();
  if (!settings.enabled) return;
  WatchForForks(&AfterFork);
  VisitDescriptors(&TrackIfListening, nullptr);
}

}  // namespace
}  // namespace ringdeal::shim
