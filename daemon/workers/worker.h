// One process that takes connections of one listener. Made by the control thread; from the moment
// it is given to a dealer, guarded by that dealer's lock.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/dealing/channel.h"
#include "daemon/observing/snapshot.h"
#include "daemon/workers/worker_line.h"
#include "protocol/page.h"

namespace ringdeal {

// What a worker said when it registered, and who it is.
struct WorkerIdentity {
  uint64_t id = 0;  // never used twice
  pid_t pid = 0;
  uid_t uid = 0;
  uint32_t weight = 1;
  std::vector<int> cpus;  // where it was set
  bool observer = false;
  bool forked = false;
  bool one_at_a_time = false;
  bool direct = false;  // it can accept by itself, and does what the page's mode says
};

// The counts of a worker that maps no page.
struct WorkerReport {
  uint64_t active = 0;   // open connections
  uint64_t pending = 0;  // work that it holds and has not begun
  uint64_t taken = 0;    // connections received since it registered
};

// What changes in a page when its process does anything about connections.
struct SignsOfLife {
  uint64_t taken = 0;
  uint64_t passes = 0;
  uint64_t rung = 0;
  uint64_t pass_start = 0;

  friend bool operator==(const SignsOfLife&, const SignsOfLife&) = default;
};

// Why connections are taken out of a worker's channel.
enum class RecallReason : uint8_t {
  kLeft,        // it left or died
  kDrained,     // it is being drained, and another may have them
  kOverdue,     // it does not come for them
  kUnanswered,  // its bell had to be taken out, and they were behind it
};
inline constexpr size_t kRecallReasons = 4;

// A channel to be emptied, and whose it is.
struct ToEmpty {
  std::shared_ptr<Channel> channel;
  uint32_t slot = 0;
  uint64_t worker_id = 0;
  RecallReason reason = RecallReason::kLeft;
};

struct Reading {
  uint64_t load = 0;
  Standing standing = Standing::kUnavailable;
  bool in_long_pass = false;
  bool honest = true;    // false: the counts had to be corrected
  bool cleared = false;  // it is no suspect any more
};

class Worker {
 public:
  Worker(WorkerIdentity identity, MappedPage page, Channel channel);

  const WorkerIdentity& identity() const { return identity_; }
  Page& page() { return *page_.get(); }
  const std::shared_ptr<Channel>& channel() const { return channel_; }

  // One look at what the worker says, and what follows from it.
  Reading Read(const StandingRules& rules);

  void Report(const WorkerReport& report) { report_ = report; }
  void SetDraining(bool draining);
  bool draining() const { return draining_; }
  // As its page says: one that maps none never does.
  bool WantsNonBlocking() const {
    return page_->progress.nonblocking.load(std::memory_order_relaxed) == 1;
  }

  // True of one that can accept by itself: it said so, and it does not block in accept, which would
  // be on its channel.
  bool MayBeDirect() const;
  // True of one that may be told to now: it is dealt to, and has acknowledged what it was told
  // last. Else an old acknowledgment could be taken for that of a new order.
  bool IsReadyForDirect() const;
  // Tells it to accept by itself, or not to any more. It sees that when it is woken next: a
  // doorbell would be a readiness with nothing to accept.
  void SetDirect(bool direct);
  // It was told to, and has acknowledged: what comes to the listener wakes it.
  bool IsDirect() const;

  // `handed` is raised before the datagram is queued, so that no worker can have taken more than it
  // was given; a failed send and a connection taken back raise `recalled`.
  void CountHanded() { ++handed_; }
  void CountRecalled() { ++recalled_; }
  // The channel took no more: unavailable until the worker takes one.
  void MarkFull() { full_at_taken_ = taken(); }
  bool HasPending() const { return taken() < given(); }
  // Nothing can be sent to it any more.
  void MarkGone() { gone_ = true; }
  bool gone() const { return gone_; }

  // For how long something has waited in the channel while the worker showed no sign of life, as of
  // the last Read; 0 if nothing waits. A worker that maps no page shows none: always 0.
  uint64_t StuckFor(uint64_t now_ns) const;
  // None if one that was taken back from it had been believed to be taken.
  uint64_t pending() const { return given() - std::min(taken(), given()); }
  // Its channel is being emptied because it is stuck. If a connection is found there, it is a
  // suspect from then on: rung instead of dealt to, unless only suspects are left, until its page
  // shows life that it did not show when the recall began.
  void BeginRecall();
  void EndRecall(uint64_t now_ns);
  void NoteRecalled();
  bool in_recall() const { return in_recall_; }

  // Returns true the first time.
  bool MarkLiar() { return !std::exchange(liar_, true); }

  // When the pass that it is in began; 0: it is in none, or takes no connections.
  uint64_t PassStart() const;
  // Both return true the first time for a pass.
  bool MarkLongPass(uint64_t pass_start) {
    return std::exchange(long_pass_, pass_start) != pass_start;
  }
  bool MarkStuck(uint64_t pass_start) {
    return std::exchange(stuck_pass_, pass_start) != pass_start;
  }

  // Where it sits, and how that is known: of a placement.
  void SetSeat(std::string cpus, const char* source) {
    seat_cpus_ = std::move(cpus);
    seat_source_ = source;
  }
  // It will be given nothing any more, unless draining is taken back.
  bool HasLeft() const;
  // True of one that may be dealt to, now or later: no observer, and it has not left.
  bool IsDealable() const;
  // Connections taken, and the CPU on which the last one was; -1: not known.
  uint64_t taken() const { return report_ ? report_->taken : counts_.taken(); }
  int last_cpu() const;

  WorkerSnapshot Show(Slot slot, uint64_t now_ns) const;

  // Sends a doorbell, to be answered until `deadline_ns`. A pass that is under way may have looked
  // at the channel already: the end of the one after it declines.
  Result<void> Ring(uint64_t deadline_ns);
  enum class Answer : uint8_t { kNone, kPromoted, kDeclined, kLate };
  // What the page says about the bell that was rung.
  Answer AnswerToBell(uint64_t now_ns) const;
  uint64_t bell_deadline_ns() const { return bell_deadline_ns_; }
  bool blocks_in_accept() const;

 private:
  uint64_t given() const { return handed_ - recalled_; }
  Reading ReadReport(const StandingRules& rules);
  void LookForLife(const WorkerLine& line, uint64_t now_ns);

  WorkerIdentity identity_;
  MappedPage page_;
  // Shared with the recall thread while it empties the channel: a receive that never returns must
  // not see its descriptor number closed and used for something else.
  std::shared_ptr<Channel> channel_;
  uint64_t handed_ = 0;
  uint64_t recalled_ = 0;
  BelievedCounts counts_;
  uint64_t progress_ns_ = 0;  // when a connection was last seen to be taken
  std::optional<WorkerReport> report_;
  std::string seat_cpus_;
  const char* seat_source_ = "none";
  std::optional<uint64_t> full_at_taken_;
  SignsOfLife life_;
  uint64_t untaken_since_ns_ = 0;  // 0: nothing waits
  SignsOfLife life_at_recall_;
  bool in_recall_ = false;
  bool suspect_ = false;
  bool draining_ = false;
  bool gone_ = false;
  bool liar_ = false;
  uint64_t long_pass_ = 0;   // the start of the one that was counted last
  uint64_t stuck_pass_ = 0;  // the start of the pass that was reported last
  uint64_t bell_deadline_ns_ = 0;
  uint64_t bell_declined_at_passes_ = 0;
};

}  // namespace ringdeal
