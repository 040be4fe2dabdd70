#include "daemon/operating/daemon.h"

#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include "daemon/dealing/cpu_list.h"
#include "daemon/observing/agent_answer.h"
#include "daemon/observing/status_document.h"
#include "daemon/operating/log.h"
#include "daemon/operating/monotonic_clock.h"
#include "daemon/operating/service_manager.h"

namespace ringdeal {
namespace {

constexpr std::chrono::milliseconds kStopTick(10);
// So long workers may take to come for what was handed to them, before ringdeald ends without
// looking further. They would still find it, but from one that ends first nobody could take it
// back.
constexpr uint64_t kUntakenPatienceNs = 1'000'000'000;

Self WhoWeAre() {
  Self self;
  self.uid = geteuid();
  if (const group* found = getgrnam("ringdeal")) self.adopting_group = found->gr_gid;
  return self;
}

// Beside the control socket, for as long as the machine runs.
std::string NotesPath(const std::string& control_path) {
  return std::filesystem::path(control_path).replace_extension(".listeners.json");
}

}  // namespace

Daemon::Daemon(Config config, ConfigFile file, std::shared_ptr<const Topology> topology)
    : config_(WithDefaultPath(std::move(config))),
      self_(WhoWeAre()),
      recall_(std::make_unique<RecallThread>()),
      listeners_(std::make_unique<ListenerTable>(config_.acceptors, MakeIntakeCallbacks())),
      owned_(
          std::make_unique<OwnedListeners>(&loop_, config_, self_, listeners_.get(), &notebook_)),
      watchdog_(std::make_unique<AcceptorWatchdog>(&loop_, &listeners_->acceptors())),
      recaller_(std::make_unique<Recaller>(
          &loop_, listeners_.get(), recall_.get(),
          [this](const auto& listener, Slot slot) { registrar_->EndWorker(listener, slot); },
          [this](const auto& listener) {
            redealer_->Look(listener, MonotonicNs());
            direct_->Look(listener);
          },
          [this] { return AllListeners(); })),
      redealer_(
          std::make_unique<Redealer>(&loop_, std::move(topology), config_.topology.empty(),
                                     static_cast<uint64_t>(config_.receive_half_life.count()))),
      direct_(std::make_unique<DirectSwitch>(&loop_, listeners_.get())),
      stuck_watch_(std::make_unique<StuckWatch>(&loop_, config_, listeners_.get())),
      closing_(std::make_unique<Closing>(&loop_, listeners_.get())),
      registrar_(std::make_unique<Registrar>(&loop_, config_, self_, listeners_.get(), owned_.get(),
                                             &notebook_, recaller_.get(), redealer_.get(),
                                             direct_.get(), MakeTools())),
      control_(std::make_unique<ControlServer>(&loop_, config_.limits, MakeControlCallbacks())),
      retirement_(std::make_unique<Retirement>(
          &loop_, config_, listeners_.get(), &notebook_, recall_.get(),
          [this](const auto& listener) { registrar_->SendAway(listener); })),
      agents_(std::make_unique<Agents>(
          &loop_, [this](const std::string& name) { return AnswerAgentOf(name); })),
      reloader_(std::make_unique<Reloader>(
          std::move(file), Reloader::Parts{&config_, listeners_.get(), owned_.get(),
                                           retirement_.get(), redealer_.get(), direct_.get(),
                                           stuck_watch_.get(), control_.get(), agents_.get()})),
      stop_timer_(loop_.MakeTimer([this] { EndIfDealt(); })),
      started_ns_(MonotonicNs()) {
  registrar_->SetServer(control_.get());
}

// The acceptors end before what they call, and nobody is told anything any more: channels and
// control connections close, and workers go direct.
Daemon::~Daemon() {
  http_.reset();
  agents_.reset();
  control_.reset();
  recall_.reset();
  listeners_.reset();
}

IntakeCallbacks Daemon::MakeIntakeCallbacks() {
  return {
      .watch_gate = [this] { loop_.Post([this] { watchdog_->Start(); }); },
      .errands =
          [this](const std::shared_ptr<Listener>& listener) {
            loop_.Post([this, listener] { registrar_->RunErrands(listener); });
          },
      .failed =
          [this](const std::shared_ptr<Listener>& listener, int error_number) {
            loop_.Post([listener, error_number] {
              Log(LogLevel::kError, "listener_failed",
                  {{"listener", listener->name()}, {"reason", std::strerror(error_number)}});
            });
          },
  };
}

ControlServer::Callbacks Daemon::MakeControlCallbacks() {
  return {
      .line =
          [this](ControlConnection* from, ControlServer::DoorId door, std::string_view line,
                 std::vector<UniqueFd> descriptors) {
            registrar_->TakeLine(from, door, line, std::move(descriptors));
          },
      .ended = [this](ControlConnection* from) { registrar_->TakeEnd(from); },
      .door_closed = [this](ControlServer::DoorId door) { registrar_->TakeDoorClosed(door); },
      .refused = [this](const char* code) { registrar_->CountRefusal(code); },
  };
}

Registrar::Tools Daemon::MakeTools() {
  return {
      .status = [this] { return RenderStatus(TakeSnapshot()); },
      .reload = [this] { return reloader_->Reload(); },
      .find_leaving = [this](const auto& identity) { return retirement_->FindInNeed(identity); }};
}

Result<void, std::string> Daemon::Start(std::vector<InheritedSocket> inherited) {
  std::signal(SIGPIPE, SIG_IGN);
  signals_.push_back(loop_.WatchSignal(SIGHUP, [this] { Reload(); }));
  for (const int number : {SIGTERM, SIGINT}) {
    signals_.push_back(loop_.WatchSignal(number, [this] { Stop(); }));
  }
  if (config_.control.path.empty()) {
    return std::string("control.path: set it, or XDG_RUNTIME_DIR, for a user who is not root");
  }
  // Before anything of another ringdeald at the same path is touched.
  if (const auto listening = control_->Listen(config_.control); !listening) {
    return listening.error();
  }
  notebook_.Open(NotesPath(config_.control.path));
  if (const auto opened = owned_->Open(std::move(inherited)); !opened) return opened.error();
  if (!config_.http_bind.empty()) {
    auto http = HttpServer::Listen(loop_, config_.http_bind, [this] { return TakeSnapshot(); });
    if (!http) return http.error();
    http_ = std::move(*http);
    Log(LogLevel::kInfo, "http", {{"address", http_->address()}});
  }
  auto agents = agents_->Open(config_);
  if (!agents) return agents.error();
  agents_->Use(config_, std::move(*agents));
  Log(LogLevel::kInfo, "started",
      {{"version", RINGDEAL_VERSION}, {"control", config_.control.path}, {"pid", getpid()}});
  NotifyServiceManager("READY=1\nSTATUS=dealing connections");
  heartbeat_ = std::make_unique<Heartbeat>(&loop_);
  return {};
}

void Daemon::Run() { loop_.Run(); }

Snapshot Daemon::TakeSnapshot() {
  const uint64_t now_ns = MonotonicNs();
  Snapshot snapshot;
  snapshot.version = RINGDEAL_VERSION;
  snapshot.pid = getpid();
  snapshot.uptime_seconds = static_cast<double>(now_ns - started_ns_) * 1e-9;
  snapshot.control_connections = control_->connections();
  snapshot.control_refusals = registrar_->refusals();
  snapshot.recall_threads_abandoned = recaller_->threads_abandoned();
  snapshot.acceptor_unblocked = watchdog_->unblocked();
  reloader_->Show(&snapshot);
  snapshot.adopt = WhoMayHaveAdopted(self_, config_.adopt);
  for (const Topology::Object& object : redealer_->topology().objects()) {
    snapshot.topology.push_back({object.parent, object.ring, FormatCpuList(object.cpus)});
  }
  for (const auto& listener : listeners_->all()) {
    ListenerSnapshot& shown = snapshot.listeners.emplace_back();
    listener->Show(&shown, now_ns);
    shown.allow = WhoMayTake(self_, listener->config().allow);
  }
  return snapshot;
}

// One that is awaited, or is being taken away, has no worker of ours.
std::string Daemon::AnswerAgentOf(const std::string& name) {
  const auto listener = listeners_->FindByName(name);
  if (listener == nullptr) return kAgentDown;
  ListenerSnapshot shown;
  listener->Show(&shown, MonotonicNs());
  return AgentAnswer(shown);
}

void Daemon::Reload() {
  if (stop_deadline_ns_ == 0) (void)reloader_->Reload();
}

// The first signal: with on_stop: close let nobody new in and accept what waits; accept no more,
// deal what is in our hand, let it be taken, end. The second: end, with what is to be closed
// closed. The third: end, whatever that waits for.
void Daemon::Stop() {
  if (stop_deadline_ns_ != 0) {
    const bool is_first_hurry = !std::exchange(is_in_hurry_, true);
    if (!is_first_hurry || !closing_->Hurry()) loop_.Stop();
    return;
  }
  stop_deadline_ns_ = MonotonicNs() + static_cast<uint64_t>(config_.drain_timeout.count());
  Log(LogLevel::kInfo, "stopping");
  NotifyServiceManager("STOPPING=1");
  registrar_->Stop();
  if (config_.on_stop != "close") return StopAccepting();
  direct_->Stop();
  closing_->Begin(stop_deadline_ns_, [this] {
    if (is_in_hurry_) return loop_.Stop();
    StopAccepting();
    // Workers that became free at the last moment are to have what is in our hand.
    stop_deadline_ns_ = std::max(stop_deadline_ns_, untaken_deadline_ns_);
  });
}

void Daemon::StopAccepting() {
  const auto patience_ns = static_cast<uint64_t>(config_.drain_timeout.count());
  untaken_deadline_ns_ = MonotonicNs() + std::min(patience_ns, kUntakenPatienceNs);
  const auto waiting = std::make_shared<size_t>(listeners_->acceptors().size());
  for (const auto& acceptor : listeners_->acceptors()) {
    acceptor->StopAccepting([this, waiting] {
      loop_.Post([this, waiting] {
        if (--*waiting == 0) EndIfDealt();
      });
    });
  }
}

void Daemon::EndIfDealt() {
  const auto dealt = [](const auto& listener) { return listener->dealer().kept() == 0; };
  const uint64_t now_ns = MonotonicNs();
  const auto taken = [this, now_ns](const auto& listener) {
    return now_ns >= untaken_deadline_ns_ || !listener->dealer().HasUntaken(now_ns);
  };
  const std::vector<std::shared_ptr<Listener>> all = AllListeners();
  if (!recall_->busy() && std::all_of(all.begin(), all.end(), dealt) &&
      std::all_of(all.begin(), all.end(), taken)) {
    return loop_.Stop();
  }
  if (now_ns < stop_deadline_ns_) {
    for (const auto& listener : all) {
      // Drained workers accept for themselves once we are gone: better they have what nobody else
      // takes than nobody.
      if (listener->dealer().EndDrainsIfNeeded(now_ns, stop_deadline_ns_)) {
        listeners_->Wake(listener);
      }
    }
    return stop_timer_->Arm(kStopTick);
  }
  for (const auto& listener : all) {
    if (dealt(listener)) continue;
    Log(LogLevel::kError, "connections_dropped",
        {{"listener", listener->name()},
         {"connections", listener->dealer().kept()},
         {"reason", "no worker took them within drain_timeout"}});
  }
  loop_.Stop();
}

std::vector<std::shared_ptr<Listener>> Daemon::AllListeners() const {
  std::vector<std::shared_ptr<Listener>> all = retirement_->leaving();
  all.insert(all.end(), listeners_->all().begin(), listeners_->all().end());
  return all;
}

}  // namespace ringdeal
