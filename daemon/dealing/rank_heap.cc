#include "daemon/dealing/rank_heap.h"

namespace ringdeal {

std::optional<Slot> RankHeap::First() const {
  if (heap_.empty()) return std::nullopt;
  if (!IsFew()) return heap_.front().slot;
  if (first_ == kNowhere) {
    first_ = 0;
    for (size_t index = 1; index < heap_.size(); ++index) {
      if (heap_[index].rank < heap_[first_].rank) first_ = index;
    }
  }
  return heap_[first_].slot;
}

void RankHeap::Reserve(Slot greatest, size_t slots) {
  heap_.reserve(slots);
  if (greatest >= places_.size()) places_.resize(greatest + 1, kNowhere);
}

void RankHeap::Put(Slot slot, Rank rank) {
  if (slot >= places_.size()) places_.resize(slot + 1, kNowhere);
  const bool comes = places_[slot] == kNowhere;
  if (comes) {
    heap_.push_back({});
    places_[slot] = heap_.size() - 1;
  }
  const size_t index = places_[slot];
  heap_[index] = {rank, slot};
  if (IsFew()) {
    // Another one than the smallest stays behind it, unless it becomes smaller.
    if (first_ == index || (first_ != kNowhere && rank < heap_[first_].rank)) first_ = kNowhere;
  } else if (comes && heap_.size() == kFew + 1) {
    PutInOrder();
  } else {
    Up(index);
    Down(places_[slot]);
  }
}

void RankHeap::Remove(Slot slot) {
  if (!Contains(slot)) return;
  const size_t index = places_[slot];
  places_[slot] = kNowhere;
  const Entry last = heap_.back();
  heap_.pop_back();
  first_ = kNowhere;
  if (index == heap_.size()) return;
  Place(index, last);
  if (IsFew()) return;
  Up(index);
  Down(places_[last.slot]);
}

// Each becomes the last of a heap.
void RankHeap::PutInOrder() {
  for (size_t index = 1; index < heap_.size(); ++index) Up(index);
}

void RankHeap::Place(size_t index, Entry entry) {
  heap_[index] = entry;
  places_[entry.slot] = index;
}

void RankHeap::Up(size_t index) {
  const Entry entry = heap_[index];
  while (index > 0) {
    const size_t parent = (index - 1) / 2;
    if (heap_[parent].rank <= entry.rank) break;
    Place(index, heap_[parent]);
    index = parent;
  }
  Place(index, entry);
}

void RankHeap::Down(size_t index) {
  const Entry entry = heap_[index];
  while (true) {
    size_t child = 2 * index + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].rank < heap_[child].rank) ++child;
    if (entry.rank <= heap_[child].rank) break;
    Place(index, heap_[child]);
    index = child;
  }
  Place(index, entry);
}

}  // namespace ringdeal
