#include "daemon/dealing/untaken.h"

#include <algorithm>

namespace ringdeal {

void Untaken::Add(Slot slot) {
  if (slot >= listed_.size()) listed_.resize(slot + 1);
  if (listed_[slot]) return;
  listed_[slot] = true;
  slots_.push_back(slot);
}

void Untaken::Remove(Slot slot) {
  if (slot >= listed_.size() || !listed_[slot]) return;
  listed_[slot] = false;
  slots_.erase(std::find(slots_.begin(), slots_.end(), slot));
}

bool Untaken::IsStuck(Slot slot, uint64_t now_ns) const {
  return (*workers_)[slot]->StuckFor(now_ns) >= recall_after_ns_;
}

void Untaken::ForgetTaken() {
  const auto was_taken = [this](Slot slot) {
    if ((*workers_)[slot]->pending() > 0) return false;
    listed_[slot] = false;
    return true;
  };
  slots_.erase(std::remove_if(slots_.begin(), slots_.end(), was_taken), slots_.end());
}

std::vector<Untaken::Overdue> Untaken::FindOverdue(uint64_t now_ns) {
  std::vector<WorkerView> stuck;
  for (const Slot slot : slots_) {
    if (IsStuck(slot, now_ns)) stuck.push_back(view_->worker(slot));
  }
  const std::optional<Slot> other = FirstEligibleBut(stuck);
  std::vector<Overdue> overdue;
  if (!other) return overdue;
  for (const WorkerView& each : stuck) {
    const Worker& worker = *(*workers_)[each.slot];
    if (worker.in_recall()) continue;
    const uint64_t times = worker.StuckFor(now_ns) / recall_after_ns_;
    const bool certain = times >= kRunnableTimes || WouldBeEven(each.slot, view_->worker(*other));
    if (certain || times >= kUnevenTimes) overdue.push_back({each.slot, !certain});
  }
  return overdue;
}

// One that is stuck itself helps nobody: these are set aside meanwhile.
std::optional<Slot> Untaken::FirstEligibleBut(const std::vector<WorkerView>& stuck) {
  for (const WorkerView& each : stuck) {
    view_->Update(each.slot, each.load, Standing::kUnavailable, each.in_long_pass);
  }
  const std::optional<Slot> first = view_->FirstEligible();
  for (const WorkerView& each : stuck) {
    view_->Update(each.slot, each.load, each.standing, each.in_long_pass);
  }
  return first;
}

bool Untaken::WouldBeEven(Slot slot, const WorkerView& other) const {
  const WorkerView& own = view_->worker(slot);
  const uint64_t pending = (*workers_)[slot]->pending();
  return (other.load + pending) * own.weight <= own.load * other.weight;
}

}  // namespace ringdeal
