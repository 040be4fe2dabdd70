#include "daemon/dealing/view.h"

#include <algorithm>

namespace ringdeal {

void View::Add(Slot slot, uint32_t weight) {
  if (slot >= workers_.size()) {
    workers_.resize(slot + 1);
    places_.resize(slot + 1);
  }
  workers_[slot] = {.slot = slot, .weight = weight, .turn = current_turn_};
  places_[slot] = members_.size();
  members_.push_back(slot);
}

void View::Remove(Slot slot) {
  eligible_.Remove(slot);
  busy_.Remove(slot);
  const Slot last = members_.back();
  members_[places_[slot]] = last;
  places_[last] = places_[slot];
  members_.pop_back();
}

void View::Update(Slot slot, uint64_t load, Standing standing, bool in_long_pass) {
  WorkerView& worker = workers_[slot];
  if (worker.load == load && worker.standing == standing && worker.in_long_pass == in_long_pass) {
    return;
  }
  if (worker.standing == Standing::kUnavailable) worker.turn = std::max(worker.turn, current_turn_);
  worker.load = load;
  worker.standing = standing;
  worker.in_long_pass = in_long_pass;
  Reorder(worker);
}

void View::Dealt(Slot slot) {
  WorkerView& worker = workers_[slot];
  worker.load += 1;
  current_turn_ = std::max(current_turn_, worker.turn);
  worker.turn += kRankUnit / worker.weight;
  worker.last_dealt = ++deals_;
  Reorder(worker);
}

void View::Reorder(const WorkerView& worker) {
  const Rank rank = policy_->rank(worker);
  if (worker.standing == Standing::kEligible) {
    eligible_.Put(worker.slot, rank);
  } else {
    eligible_.Remove(worker.slot);
  }
  if (worker.standing == Standing::kBusy) {
    busy_.Put(worker.slot, rank);
  } else {
    busy_.Remove(worker.slot);
  }
}

std::optional<Slot> View::NextToRead() {
  if (members_.empty()) return std::nullopt;
  next_to_read_ = (next_to_read_ + 1) % members_.size();
  return members_[next_to_read_];
}

}  // namespace ringdeal
