#include "daemon/dealing/rank_heap.h"

namespace ringdeal {

std::optional<Slot> RankHeap::First() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.front().slot;
}

void RankHeap::Reserve(Slot greatest, size_t slots) {
  heap_.reserve(slots);
  if (greatest >= places_.size()) places_.resize(greatest + 1, kNowhere);
}

void RankHeap::Put(Slot slot, Rank rank) {
  if (slot >= places_.size()) places_.resize(slot + 1, kNowhere);
  if (places_[slot] == kNowhere) {
    heap_.push_back({});
    Place(heap_.size() - 1, {rank, slot});
  } else {
    heap_[places_[slot]].rank = rank;
  }
  Up(places_[slot]);
  Down(places_[slot]);
}

void RankHeap::Remove(Slot slot) {
  if (!Contains(slot)) return;
  const size_t index = places_[slot];
  places_[slot] = kNowhere;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (index == heap_.size()) return;
  Place(index, last);
  Up(index);
  Down(places_[last.slot]);
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
