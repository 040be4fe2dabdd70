// The processes that watch a listener and have not accepted yet, and the doorbells that make them
// show what they are. Guarded by the dealer's lock.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/workers/worker.h"

namespace ringdeal {

class Observers {
 public:
  using Workers = std::vector<std::unique_ptr<Worker>>;  // by slot

  explicit Observers(const Workers* workers) : workers_(workers) {}

  void Add(Slot slot) { silent_.push_back(slot); }
  void Remove(Slot slot);

  // Rings one, or all that were never rung. Each is awaited for a limited time, once.
  void Ring(Slot slot, uint64_t now_ns);
  void RingSilent(uint64_t now_ns);
  // Rings those that declined before: an on-demand master forks a child for it. Not awaited.
  void RingDeclined(uint64_t now_ns);
  // The same, though they were rung: their bells may have been taken out meanwhile.
  void RingAgain(uint64_t now_ns);

  // Until when an answer is awaited; 0 if none is.
  uint64_t Await(uint64_t now_ns);

  // A blocking program that came for its bell since the last call: the next connection is its,
  // since it may be in accept, where natively it would have found one.
  std::optional<Slot> TakeOwed();
  // The channels of those that declined: their bells must be taken out again, or a level-triggered
  // watcher would see readiness for ever.
  std::vector<ToEmpty> TakeUnanswered();
  bool has_unanswered() const { return !unanswered_.empty(); }
  // What was rung while nobody could take the waiting connection is taken out once one did.
  void RetractDeclined();

 private:
  Worker* At(Slot slot) const { return (*workers_)[slot].get(); }
  // Returns true if it is awaited no more.
  bool Settle(Slot slot, uint64_t now_ns);
  void LookAtALateOne(uint64_t now_ns);
  void Retract(Slot slot);
  // One that accepted after all is no observer any more.
  void ForgetPromoted();

  const Workers* workers_;
  std::vector<Slot> silent_;    // to be rung when a connection waits
  std::vector<Slot> rung_;      // an answer is awaited
  std::deque<Slot> late_;       // neither accepted nor ended a pass while it was awaited
  std::vector<Slot> declined_;  // ended a pass and did not accept
  std::optional<Slot> owed_;
  std::vector<ToEmpty> unanswered_;
  bool declined_rung_ = false;
};

}  // namespace ringdeal
