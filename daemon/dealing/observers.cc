#include "daemon/dealing/observers.h"

#include <algorithm>
#include <utility>

namespace ringdeal {
namespace {

// How long dealing waits for one that was rung.
constexpr uint64_t kPatienceNs = 50'000'000;

template <typename Slots>
void Erase(Slots* slots, Slot slot) {
  slots->erase(std::remove(slots->begin(), slots->end(), slot), slots->end());
}

}  // namespace

void Observers::Remove(Slot slot) {
  Erase(&silent_, slot);
  Erase(&rung_, slot);
  Erase(&late_, slot);
  Erase(&declined_, slot);
  if (owed_ == slot) owed_.reset();
}

void Observers::Ring(Slot slot, uint64_t now_ns) {
  Erase(&silent_, slot);
  // A channel that takes no bell belongs to a process that left or reads nothing.
  (At(slot)->Ring(now_ns + kPatienceNs) ? rung_ : declined_).push_back(slot);
}

void Observers::RingSilent(uint64_t now_ns) {
  while (!silent_.empty()) Ring(silent_.back(), now_ns);
}

void Observers::RingDeclined(uint64_t now_ns) {
  if (declined_rung_) return;
  declined_rung_ = true;
  unanswered_.clear();  // these bells are to stay now
  ForgetPromoted();
  for (const Slot slot : declined_) (void)At(slot)->Ring(now_ns);
}

uint64_t Observers::Await(uint64_t now_ns) {
  uint64_t until = 0;
  const auto settled = [this, now_ns](Slot slot) { return Settle(slot, now_ns); };
  rung_.erase(std::remove_if(rung_.begin(), rung_.end(), settled), rung_.end());
  for (const Slot slot : rung_) until = std::max(until, At(slot)->bell_deadline_ns());
  LookAtALateOne(now_ns);
  return until;
}

// One a call: there may be many.
void Observers::LookAtALateOne(uint64_t now_ns) {
  if (late_.empty()) return;
  const Slot slot = late_.front();
  late_.pop_front();
  (void)Settle(slot, now_ns);
}

bool Observers::Settle(Slot slot, uint64_t now_ns) {
  Worker* worker = At(slot);
  const Worker::Answer answer = worker->AnswerToBell(now_ns);
  if (answer == Worker::Answer::kNone) return false;
  // It has not run since: its bell stays where it is, and promotes it whenever it comes.
  if (answer == Worker::Answer::kLate) {
    late_.push_back(slot);
    return true;
  }
  worker->page().orders.wants_ready.store(0, std::memory_order_relaxed);
  switch (answer) {
    case Worker::Answer::kNone:
    case Worker::Answer::kLate:
      break;
    case Worker::Answer::kPromoted:
      if (worker->blocks_in_accept()) owed_ = slot;
      return true;
    case Worker::Answer::kDeclined:
      declined_.push_back(slot);
      Retract(slot);
      return true;
  }
  return true;
}

std::optional<Slot> Observers::TakeOwed() { return std::exchange(owed_, std::nullopt); }

std::vector<ToEmpty> Observers::TakeUnanswered() { return std::exchange(unanswered_, {}); }

void Observers::Retract(Slot slot) {
  unanswered_.push_back(
      {At(slot)->channel(), slot, At(slot)->identity().id, RecallReason::kUnanswered});
}

void Observers::ForgetPromoted() {
  const auto promoted = [this](Slot slot) {
    return At(slot)->page().progress.state.load(std::memory_order_acquire) == WorkerState::kWorker;
  };
  declined_.erase(std::remove_if(declined_.begin(), declined_.end(), promoted), declined_.end());
}

void Observers::RingAgain(uint64_t now_ns) {
  declined_rung_ = false;
  RingDeclined(now_ns);
}

void Observers::RetractDeclined() {
  if (!std::exchange(declined_rung_, false)) return;
  ForgetPromoted();
  for (const Slot slot : declined_) Retract(slot);
}

}  // namespace ringdeal
