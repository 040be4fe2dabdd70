#include "daemon/workers/recaller.h"

#include <algorithm>
#include <utility>

#include "daemon/accepting/receiving_cpu.h"
#include "daemon/operating/log.h"
#include "daemon/operating/monotonic_clock.h"
#include "daemon/workers/process_state.h"

namespace ringdeal {
namespace {

// A receive of the recall thread that lasts longer is abandoned (rule 4 of the design).
constexpr std::chrono::milliseconds kThreadPatience(100);
// Looks that found nothing waiting before the watch ends: a connection every now and then must not
// begin a watch each.
constexpr int kQuietLooks = 100;
// What is done beside a look is not to wait for a long `recall_after`.
constexpr Duration kLongestBetweenLooks = std::chrono::milliseconds(50);

Duration BetweenLooks(const Listener& listener) {
  return std::min(listener.config().recall_after, kLongestBetweenLooks);
}

}  // namespace

Recaller::Recaller(EventLoop* loop, ListenerTable* listeners, RecallThread* thread, CutOff cut_off,
                   Beside beside, All all)
    : loop_(loop),
      listeners_(listeners),
      thread_(thread),
      cut_off_worker_(std::move(cut_off)),
      beside_(std::move(beside)),
      all_(std::move(all)),
      thread_timer_(loop->MakeTimer([this] { LookAtThread(); })) {}

void Recaller::Empty(const ListenerPtr& listener, const ToEmpty& what, std::function<void()> done) {
  if (cut_off_.contains(what.channel)) return done();
  thread_->Empty(
      what.channel,
      [this, listener, what](Connection connection) {
        // Not sent along: who takes it over is to be as near as the first one.
        if (listener->dealer().wants_receiving_cpu()) {
          connection.cpu = ReceivingCpuOf(connection.socket.get());
        }
        listener->dealer().DealAgain(std::move(connection), what, MonotonicNs());
        loop_->Post([this, listener] { listeners_->Wake(listener); });
      },
      std::move(done));
  thread_timer_->Arm(kThreadPatience);
}

void Recaller::Watch(const ListenerPtr& listener) {
  listener->dealer().BeginWatchOfUntaken();
  if (!watches_.contains(listener.get())) {
    std::erase_if(watches_, [](const auto& each) { return each.second.listener.expired(); });
  }
  WatchOfUntaken& watch = watches_[listener.get()];
  watch.listener = listener;
  watch.quiet_looks = 0;
  if (watch.timer == nullptr) {
    watch.timer = loop_->MakeTimer([this, place = &watch] { LookAtUntaken(place); });
  }
  watch.timer->Arm(BetweenLooks(*listener));
}

void Recaller::LookAtUntaken(WatchOfUntaken* watch) {
  const ListenerPtr listener = watch->listener.lock();
  if (listener == nullptr) return;
  const bool may_end = watch->quiet_looks >= kQuietLooks;
  const Dealer::Overdue overdue = listener->dealer().TakeOverdue(MonotonicNs(), may_end);
  for (const Dealer::OverdueWorker& each : overdue.workers) Recall(listener, each);
  beside_(listener);
  watch->quiet_looks = overdue.anything_waits ? 0 : watch->quiet_looks + 1;
  if (overdue.anything_waits || !may_end) watch->timer->Arm(BetweenLooks(*listener));
}

void Recaller::Recall(const ListenerPtr& listener, const Dealer::OverdueWorker& worker) {
  const auto end = [listener, slot = worker.what.slot, id = worker.what.worker_id] {
    listener->dealer().EndRecall(slot, id, MonotonicNs());
  };
  if (worker.unless_runnable && IsRunnable(worker.pid)) return end();
  Log(LogLevel::kInfo, "recalled",
      {{"listener", listener->name()},
       {"slot", worker.what.slot},
       {"pid", worker.pid},
       {"seconds", static_cast<double>(worker.waited_ns) * 1e-9},
       {"reason", "the worker does not come for what was handed to it"}});
  Empty(listener, worker.what, end);
}

void Recaller::LookAtThread() {
  if (const auto stuck = thread_->AbandonIfStuck(kThreadPatience)) {
    ++abandoned_;
    std::erase_if(cut_off_, [](const auto& channel) { return channel.expired(); });
    cut_off_.insert(stuck);
    for (const auto& listener : all_()) {
      if (const auto slot = listener->dealer().FindByChannel(stuck.get())) {
        cut_off_worker_(listener, *slot);
      }
    }
    Log(LogLevel::kWarn, "recall_thread_abandoned",
        {{"reason",
          "a worker blocks the receive from its channel; what waits in it is lost to us"}});
  }
  if (thread_->busy()) thread_timer_->Arm(kThreadPatience);
}

}  // namespace ringdeal
