// Everything of ringdeald, put together. Control thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/accepting/acceptor_watchdog.h"
#include "daemon/accepting/listener_table.h"
#include "daemon/dealing/recall_thread.h"
#include "daemon/dealing/topology.h"
#include "daemon/observing/agents.h"
#include "daemon/observing/http_server.h"
#include "daemon/observing/snapshot.h"
#include "daemon/operating/closing.h"
#include "daemon/operating/config.h"
#include "daemon/operating/event_loop.h"
#include "daemon/operating/heartbeat.h"
#include "daemon/operating/inherited_sockets.h"
#include "daemon/operating/notebook.h"
#include "daemon/operating/owned_listeners.h"
#include "daemon/operating/reloader.h"
#include "daemon/operating/retirement.h"
#include "daemon/workers/control_server.h"
#include "daemon/workers/direct_switch.h"
#include "daemon/workers/registrar.h"
#include "daemon/workers/stuck_watch.h"
#include "protocol/result.h"

namespace ringdeal {

class Daemon {
 public:
  Daemon(Config config, ConfigFile file, std::shared_ptr<const Topology> topology);
  ~Daemon();

  // Opens what the configuration names. The error is one line for the operator.
  Result<void, std::string> Start(std::vector<InheritedSocket> inherited);
  // Serves until a signal ends it.
  void Run();
  // True if a thread may be stuck in the kernel: then the process must end without taking apart
  // what that thread will use should it ever return.
  bool HasStuckThread() const { return recaller_->threads_abandoned() > 0; }

 private:
  IntakeCallbacks MakeIntakeCallbacks();
  ControlServer::Callbacks MakeControlCallbacks();
  Registrar::Tools MakeTools();
  Snapshot TakeSnapshot();
  std::string AnswerAgentOf(const std::string& name);
  void Reload();
  void Stop();
  void StopAccepting();
  void EndIfDealt();
  // Those that are being taken away too.
  std::vector<std::shared_ptr<Listener>> AllListeners() const;

  Config config_;  // the one in force
  const Self self_;
  EventLoop loop_;
  Notebook notebook_;
  std::unique_ptr<RecallThread> recall_;
  std::unique_ptr<ListenerTable> listeners_;
  std::unique_ptr<OwnedListeners> owned_;
  std::unique_ptr<AcceptorWatchdog> watchdog_;
  std::unique_ptr<Recaller> recaller_;
  std::unique_ptr<Redealer> redealer_;
  std::unique_ptr<DirectSwitch> direct_;
  std::unique_ptr<StuckWatch> stuck_watch_;
  std::unique_ptr<Closing> closing_;
  std::unique_ptr<Registrar> registrar_;
  std::unique_ptr<ControlServer> control_;
  std::unique_ptr<Retirement> retirement_;
  std::unique_ptr<Agents> agents_;
  std::unique_ptr<Reloader> reloader_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<Heartbeat> heartbeat_;
  std::vector<std::unique_ptr<EventLoop::Watch>> signals_;
  std::unique_ptr<EventLoop::Watch> stop_timer_;
  uint64_t started_ns_ = 0;
  uint64_t stop_deadline_ns_ = 0;  // 0 while serving
  uint64_t untaken_deadline_ns_ = 0;
  bool is_in_hurry_ = false;  // a second signal came
};

}  // namespace ringdeal
