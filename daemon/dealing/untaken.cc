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

std::vector<Slot> Untaken::FindOverdue(uint64_t now_ns) {
  std::vector<Slot> stuck;
  for (const Slot slot : slots_) {
    if (IsStuck(slot, now_ns) && !(*workers_)[slot]->in_recall()) stuck.push_back(slot);
  }
  if (stuck.empty()) return {};
  // One that is stuck itself helps nobody.
  for (const Slot slot : slots_) {
    if (IsStuck(slot, now_ns))
      view_->Update(slot, view_->worker(slot).load, Standing::kUnavailable);
  }
  const std::optional<Slot> other = view_->FirstEligible();
  if (!other) return {};
  const auto stays = [&](Slot slot) { return !IsOverdue(slot, view_->worker(*other), now_ns); };
  stuck.erase(std::remove_if(stuck.begin(), stuck.end(), stays), stuck.end());
  return stuck;
}

bool Untaken::IsOverdue(Slot slot, const WorkerView& other, uint64_t now_ns) const {
  const Worker& worker = *(*workers_)[slot];
  if (worker.StuckFor(now_ns) >= kCertainTimes * recall_after_ns_) return true;
  const WorkerView& own = view_->worker(slot);
  return (other.load + worker.pending()) * own.weight <= own.load * other.weight;
}

}  // namespace ringdeal
