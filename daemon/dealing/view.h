// ringdeald's own view of a listener's workers, ordered so that a pick costs the same for two
// workers and for a thousand. Exact in what ringdeald did itself; what workers did is as fresh as
// the last look at their lines. Pure; guarded by the dealer's lock.
#pragma once

#include <optional>
#include <vector>

#include "daemon/dealing/policy.h"
#include "daemon/dealing/rank_heap.h"
#include "daemon/dealing/worker_view.h"

namespace ringdeal {

class View {
 public:
  explicit View(const Policy* policy) : policy_(policy) {}

  // REQUIRES: the slot is free, weight > 0.
  void Add(Slot slot, uint32_t weight);
  void Remove(Slot slot);

  // What a look at the worker's line said.
  void Update(Slot slot, uint64_t load, Standing standing, bool in_long_pass = false);
  // ringdeald dealt a connection to it.
  void Dealt(Slot slot);

  std::optional<Slot> Pick(ReceivingCpu cpu) const { return policy_->pick(*this, cpu); }
  std::optional<Slot> FirstEligible() const { return eligible_.First(); }
  std::optional<Slot> FirstBusy() const { return busy_.First(); }

  // The next worker whose line is due to be read, in rotation; nothing if there is none.
  std::optional<Slot> NextToRead();

  size_t size() const { return members_.size(); }
  const std::vector<Slot>& members() const { return members_; }
  const WorkerView& worker(Slot slot) const { return workers_[slot]; }
  Rank RankOf(Slot slot) const { return policy_->rank(workers_[slot]); }

 private:
  void Reorder(const WorkerView& worker);

  const Policy* policy_;
  std::vector<WorkerView> workers_;  // by slot
  std::vector<Slot> members_;        // in no order
  std::vector<size_t> places_;       // by slot: its index in members_
  RankHeap eligible_;
  RankHeap busy_;
  size_t next_to_read_ = 0;
  uint64_t deals_ = 0;
  // The turn of the last one dealt to: who joins or comes back starts here, so that it neither
  // catches up on what it missed nor waits.
  uint64_t current_turn_ = 0;
};

}  // namespace ringdeal
