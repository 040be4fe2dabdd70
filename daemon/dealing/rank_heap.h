// Slots ordered by rank: the smallest in one look, a change in logarithmic time, no allocation once
// the greatest slot was seen. A few are not kept in order: looking through them for the smallest
// when it is asked for costs less than moving them at each change. Pure; one thread at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "daemon/dealing/worker_view.h"

namespace ringdeal {

class RankHeap {
 public:
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  std::optional<Slot> First() const;
  bool Contains(Slot slot) const { return slot < places_.size() && places_[slot] != kNowhere; }

  // So many slots up to this one can be put without allocating.
  void Reserve(Slot greatest, size_t slots);
  // Adds the slot, or moves it to its new place.
  void Put(Slot slot, Rank rank);
  // Nothing happens if it is not there.
  void Remove(Slot slot);

 private:
  struct Entry {
    Rank rank;
    Slot slot;
  };
  static constexpr size_t kNowhere = static_cast<size_t>(-1);
  static constexpr size_t kFew = 16;

  bool IsFew() const { return heap_.size() <= kFew; }
  void PutInOrder();
  void Place(size_t index, Entry entry);
  void Up(size_t index);
  void Down(size_t index);

  std::vector<Entry> heap_;     // a binary heap, or a few in no order
  std::vector<size_t> places_;  // by slot: its index in heap_, or kNowhere
  // The index of the smallest of a few; kNowhere: it must be looked for. What only const members
  // write, and no caller sees.
  mutable size_t first_ = kNowhere;
};

}  // namespace ringdeal
