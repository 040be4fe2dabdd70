// Deals the connections of one listener to its workers. The critical section of the design: pick,
// raising `handed` and the send are one step under the lock, so that after Detach no send to that
// worker is under way or will ever be. Thread-safe: the acceptor deals, the control thread adds and
// detaches, a recall thread gives back what it found.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "daemon/dealing/connection.h"
#include "daemon/dealing/direct_order.h"
#include "daemon/dealing/observers.h"
#include "daemon/dealing/receive_shares.h"
#include "daemon/dealing/slow_start.h"
#include "daemon/dealing/untaken.h"
#include "daemon/dealing/view.h"
#include "daemon/observing/snapshot.h"
#include "daemon/workers/worker.h"

namespace ringdeal {

struct DealerSettings {
  const Policy* policy = nullptr;
  PolicyRules rules = {};
  uint64_t busy_after_ns = 0;
  uint64_t recall_after_ns = 0;
  uint64_t stuck_after_ns = 0;
  uint64_t slow_start_ns = 0;
  uint64_t channel_depth = 0;
  size_t workers = 0;          // the most that there may be
  bool may_be_direct = false;  // a worker that is alone may accept by itself
  // The most load of one worker, and of all together; 0: no limit.
  uint64_t max_active_per_worker = 0;
  uint64_t max_active = 0;
  // Without any worker: connections are reset from so long after the first that found none.
  bool reset_without_worker = false;
  uint64_t hold_timeout_ns = 0;
};

class Dealer {
 public:
  explicit Dealer(const DealerSettings& settings);
  // Resets what is still kept.
  ~Dealer();
  Dealer(const Dealer&) = delete;
  Dealer& operator=(const Dealer&) = delete;

  // --- control thread

  // From now on these, for the workers that are there too: nothing that was counted changes. Of
  // workers beyond a lower maximum none is sent away. The caller wakes the acceptor afterwards, as
  // somebody may be given a connection now.
  void Use(const DealerSettings& settings);

  // Nothing if the table is full. An observer that forked is rung at once, so that a prefork
  // server's workers are promoted before the first client.
  std::optional<Slot> Add(std::unique_ptr<Worker> worker, uint64_t now_ns);
  // Takes the worker out. Nothing is sent to it any more; its slot stays taken until Release, so
  // that its channel can be emptied first.
  std::unique_ptr<Worker> Detach(Slot slot);
  void Release(Slot slot);
  void Report(Slot slot, const WorkerReport& report);
  // Has the only process of the listener accept by itself, or ends that, if it is time for either.
  // Returns true if it was. REQUIRES of `one_socket`: that worker holds the listener's only socket.
  // A second process ends it at once, in Add.
  bool DecideDirect(bool one_socket);
  // The channel, to be emptied when draining begins if another may have what waits in it; null: no
  // such worker.
  ToEmpty SetDraining(Slot slot, bool draining);
  // Whether a connection would go to a worker that is at hand.
  bool HasEligible(uint64_t now_ns);
  // Ends all drains if something is kept, or `waits` to be accepted, for which no other worker is
  // left, or which is dropped at `deadline_ns` and that is soon. Returns true if it did: the caller
  // wakes the listener.
  bool EndDrainsIfNeeded(uint64_t now_ns, uint64_t deadline_ns, bool waits = false);
  // A worker that may be dealt to, now or later. `identity` is valid until the worker is detached.
  struct Dealable {
    Slot slot = 0;
    const WorkerIdentity* identity = nullptr;
    uint64_t taken = 0;
    int last_cpu = -1;  // on which it took the last one
  };
  // In ascending order of their slots.
  std::vector<Dealable> FindDealable() const;
  // Where one worker sits, as it is to be shown.
  struct ShownSeat {
    Slot slot = 0;
    std::string cpus;
    const char* source = "none";
  };
  struct DeckUpdate {
    std::shared_ptr<const Deck> deck;
    std::shared_ptr<const Topology> topology;
    std::vector<Seat> seats;
    std::vector<ShownSeat> shown;  // of the same workers
  };
  // From now on this deck. REQUIRES: no worker was detached since FindDealable.
  void UseDeck(DeckUpdate update);
  // From now on each connection is counted there, and is to come with its receiving CPU.
  void CountReceived(std::shared_ptr<ReceiveShares> shares);
  std::optional<Slot> FindByPid(pid_t pid) const;
  std::optional<Slot> FindByChannel(const Channel* channel) const;
  // True if connections began to be reset since the last call; once until a worker comes.
  bool TakeResetsBegun();
  // The slots whose channel was found closed by a send since the last call.
  std::vector<Slot> TakeGone();
  // The channels of observers that did not answer their bell, which must be taken out again.
  std::vector<ToEmpty> TakeUnansweredBells();
  // Such a channel was emptied. If a hold began meanwhile, its bell may have gone with the others.
  void NoteBellsTakenOut(uint64_t now_ns);
  // Connections were sent, and nobody looks whether they are taken.
  bool WantsWatchOfUntaken() const;
  // Somebody calls TakeOverdue now and then from now on, until it ends the watch.
  void BeginWatchOfUntaken();
  struct OverdueWorker {
    ToEmpty what;
    pid_t pid = 0;
    bool unless_runnable = false;  // its process: then it is only kept from running
    uint64_t waited_ns = 0;        // something did, while the worker showed no life
  };
  struct Overdue {
    std::vector<OverdueWorker> workers;  // each to be emptied or not, with EndRecall at the end
    bool anything_waits = false;         // or was sent since the last call
  };
  // The workers that do not come for what waits in their channel, while another is free. If
  // nothing waits and `may_end`, the watch is over.
  Overdue TakeOverdue(uint64_t now_ns, bool may_end);
  void EndRecall(Slot slot, uint64_t worker_id, uint64_t now_ns);
  // True if something waits in the channel of a worker that is there.
  bool HasUntaken(uint64_t now_ns);
  // The slots whose counts had to be corrected for the first time since the last call.
  std::vector<Slot> TakeLiars();
  struct StuckWorker {
    Slot slot = 0;
    pid_t pid = 0;
    uint64_t pass_ns = 0;
  };
  struct StuckLook {
    std::vector<StuckWorker> workers;
    uint64_t next_ns = 0;  // no other can be stuck before
  };
  // The workers that have been in one pass for stuck_after, each once a pass.
  StuckLook TakeStuck(uint64_t now_ns);
  void Show(ListenerSnapshot* snapshot, uint64_t now_ns);

  // --- acceptor thread

  enum class Readiness : uint8_t {
    kReady,  // somebody may be given a connection
    kAwait,  // an observer was rung: look again when it answers, or at `until_ns`
    kHold,   // nobody may be given anything: every worker will poke when that changes, and it may
             // change at `until_ns` if that is not 0
    kReset,  // there is no worker, and what is accepted is reset
    kPause,  // the kernel refuses to pass a descriptor: look again after a while
    kLeave,  // the only worker accepts by itself: look again when processes come or go
  };
  struct Preparation {
    Readiness readiness = Readiness::kReady;
    uint64_t until_ns = 0;
  };
  // To be asked before each accept, while a connection waits. Deals what is kept first.
  Preparation Prepare(uint64_t now_ns);
  // Notes what observers answered to their bell, also while no connection waits.
  void NoteAnswers(uint64_t now_ns);

  enum class Outcome : uint8_t {
    kDelivered,
    kKept,     // nobody could be given it: it is in the dealer's hand, do not accept more
    kRefused,  // kept as well: the kernel has no room for descriptors in flight
    kReset,    // there is no worker to wait for
  };
  // True if the worker that was given the last connection accepts in non-blocking mode. Any thread.
  bool wants_nonblocking() const { return wants_nonblocking_.load(std::memory_order_relaxed); }
  bool wants_receiving_cpu() const { return wants_receiving_cpu_.load(std::memory_order_relaxed); }
  // Takes the connection over, whatever comes of it.
  Outcome Deal(Connection connection, uint64_t now_ns);

  // True if the only worker accepts by itself and nothing is kept: there is no need to accept until
  // a process comes or that one says something, and nothing is asked of it.
  bool LeaveToWorker();

  // True if there is something for TakeGone, TakeLiars or TakeUnansweredBells, or a watch to begin.
  bool HasErrands() const;

  // --- any thread

  // Takes over a connection that was taken back from the channel of a worker, which may have left
  // since. It is dealt to another at once, so that no second one is in our hand; at the next
  // Prepare, if there is no other or something is kept already. The caller wakes the acceptor
  // afterwards.
  void DealAgain(Connection connection, const ToEmpty& from, uint64_t now_ns);
  size_t kept() const;

 private:
  Worker* At(Slot slot) const { return slot < workers_.size() ? workers_[slot].get() : nullptr; }
  Worker* Find(Slot slot, uint64_t worker_id) const;
  StandingRules RulesAt(uint64_t now_ns) const;
  void Refresh(Slot slot, uint64_t now_ns);
  void LookAtPart(Slot slot, const Reading& reading, uint64_t now_ns);
  void RefreshSome(uint64_t now_ns);
  void RefreshAll(uint64_t now_ns);
  void ReadUntaken(uint64_t now_ns);
  bool IsAtMaximum() const {
    return settings_.max_active != 0 && view_.load() >= settings_.max_active;
  }
  bool AnyAvailable() const {
    return !IsAtMaximum() && (view_.FirstEligible() || view_.FirstBusy());
  }
  bool WantsWatchLocked() const { return sent_since_look_ && !untaken_is_watched_; }
  std::optional<Slot> Choose(ReceivingCpu cpu, uint64_t now_ns);
  std::optional<Slot> ChooseOwed(uint64_t now_ns);
  std::optional<Slot> ChooseEligible(ReceivingCpu cpu, uint64_t now_ns);
  std::optional<Slot> ChooseBusy(uint64_t now_ns);
  Outcome DealLocked(Connection& connection, uint64_t now_ns,
                     std::optional<Slot> but_for = std::nullopt);
  Result<void> Send(Slot slot, Connection& connection);
  bool GiveUpOn(Slot slot, int error_number, uint64_t now_ns);
  Outcome DealKept(uint64_t now_ns);
  bool FindAnyAfterAsking(uint64_t now_ns);
  bool FoundWorkerless(uint64_t now_ns);
  bool MustReset(uint64_t now_ns) const;
  void ResetLocked(Connection connection);
  void NoteWorker();
  void LeaveHold();
  double FreePercent() const;
  bool LeaveToWorkerLocked();

  std::atomic<bool> wants_nonblocking_{false};    // written under the lock
  std::atomic<bool> wants_receiving_cpu_{false};  // written by the control thread
  mutable std::mutex mutex_;
  // All below is guarded by mutex_.
  DealerSettings settings_;
  View view_;
  std::shared_ptr<ReceiveShares> received_;       // null: not counted
  std::vector<std::unique_ptr<Worker>> workers_;  // by slot; empty between Detach and Release too
  std::vector<bool> taken_slots_;
  Observers observers_;
  SlowStart slow_start_;
  Untaken untaken_;
  DirectOrder direct_;
  bool untaken_is_watched_ = false;
  bool sent_since_look_ = false;  // at untaken_
  std::optional<Slot> owed_;      // the next connection is for this one
  std::vector<Slot> gone_;
  std::vector<Slot> liars_;
  std::deque<Connection> kept_;
  bool holding_ = false;
  std::optional<uint64_t> workerless_since_ns_;  // when a connection first found no worker
  bool resetting_ = false;                       // one was reset since then
  bool resets_begun_ = false;                    // and nobody was told
  // Only grow.
  uint64_t clamped_ = 0;
  uint64_t long_passes_ = 0;
  uint64_t stuck_ = 0;
  uint64_t joined_ = 0;
  uint64_t left_ = 0;
  uint64_t redealt_ = 0;
  std::array<uint64_t, kRecallReasons> recalls_{};
  uint64_t decks_dealt_ = 0;
  uint64_t delivered_ = 0;
  uint64_t found_full_ = 0;
  uint64_t found_gone_ = 0;
  uint64_t refused_ = 0;
  uint64_t resets_ = 0;
};

}  // namespace ringdeal
