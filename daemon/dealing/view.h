// ringdeald's own view of a listener's workers, ordered so that a pick costs the same for two
// workers and for a thousand. Exact in what ringdeald did itself; what workers did is as fresh as
// the last look at their lines. Pure; guarded by the dealer's lock.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/dealing/deck.h"
#include "daemon/dealing/policy.h"
#include "daemon/dealing/rank_heap.h"
#include "daemon/dealing/seats.h"
#include "daemon/dealing/worker_view.h"
#include "daemon/observing/snapshot.h"

namespace ringdeal {

// When exact-claim sends a connection to a worker whose CPU was found out rather than set.
enum class Coverage : uint8_t {
  kAny,  // whenever it sits on the receiving CPU, though workers elsewhere get nothing then
  kAll,  // only while every worker sits on a CPU that receives
};

struct PolicyRules {
  // How far the worker that is nearest may be above the least loaded: connections, or percent of
  // the mean load, whichever is more. 1 connection is even to one.
  uint32_t slack = 1;
  double slack_percent = 12.5;
  Coverage coverage = Coverage::kAll;
};

// Only grow. Counted while there is a deck.
struct DealCounts {
  std::array<uint64_t, kFarthestRing + 1> by_ring = {};
  uint64_t turned_away = 0;  // the guard did not let the row's next worker have it
};

class View {
 public:
  explicit View(const Policy* policy, const PolicyRules& rules = {})
      : policy_(policy), rules_(rules) {}

  // REQUIRES: the slot is free, weight > 0.
  void Add(Slot slot, uint32_t weight);
  void Remove(Slot slot);

  // What a look at the worker's line said.
  void Update(Slot slot, uint64_t load, Standing standing, bool in_long_pass = false);
  // From now on it counts with this part of its weight. REQUIRES: 1 to kWholePart.
  void SetPart(Slot slot, uint32_t part);
  // ringdeald dealt a connection, received on `cpu`, to it: the row's turn is over.
  void Dealt(Slot slot, ReceivingCpu cpu);
  // From now on by this policy and these rules. Turns and counts go on; a policy that looks at no
  // place has no deck.
  void UsePolicy(const Policy* policy, const PolicyRules& rules);
  // From now on this deck and these seats. A row of a CPU that had one goes on where that one is.
  // Workers that have no seat sit nowhere in particular. What is not needed any more is given back,
  // to be freed where nobody waits.
  void SetDeck(std::shared_ptr<const Deck>* deck, Seats* seats);

  std::optional<Slot> Pick(ReceivingCpu cpu) const { return policy_->pick(*this, cpu); }
  std::optional<Slot> FirstEligible() const { return eligible_.First(); }
  std::optional<Slot> FirstBusy() const { return busy_.First(); }
  bool IsEligible(Slot slot) const { return eligible_.Contains(slot); }

  // The worker whose turn it is in the row of `cpu`, eligible or not; nothing without a row, or if
  // the policy does not deal by rows.
  std::optional<Slot> NextOfRow(ReceivingCpu cpu) const;
  // Whether one more connection leaves an eligible worker within the slack. Always true of the
  // first one, never of one in a long pass while the first is in none.
  bool IsWithinGuard(Slot slot) const;
  // Of the eligible workers within the guard: the nearest, among those the one that ranks first. An
  // object that is ahead of its share lends nobody while another has one to lend.
  std::optional<Slot> NearestWithinGuard(ReceivingCpu cpu) const;
  // The worker that has `cpu` to itself by exact claim, if it may claim it.
  std::optional<Slot> Claimant(ReceivingCpu cpu) const;

  // The next worker whose line is due to be read, in rotation; nothing if there is none.
  std::optional<Slot> NextToRead();
  // Whether all lines are due again: the rotation begins anew.
  bool IsRoundOver() const { return next_to_read_ == 0; }

  // Of all of them together, also of those that may be given nothing.
  uint64_t load() const { return load_; }
  // What a worker would have if it were one of the eligible and all had the same for their weight.
  double DueLoad(Slot slot) const;
  size_t size() const { return members_.size(); }
  const std::vector<Slot>& members() const { return members_; }
  const WorkerView& worker(Slot slot) const { return workers_[slot]; }
  Rank RankOf(Slot slot) const { return policy_->rank(workers_[slot]); }
  const DealCounts& counts() const { return counts_; }
  // The deck, if there is one, and what was dealt by decks. Nothing before the first one.
  void Show(ListenerSnapshot* snapshot) const;

 private:
  bool HasRows() const { return deck_ != nullptr && !deck_->rows().empty(); }
  void Forget(const WorkerView& worker);
  void Remember(const WorkerView& worker);
  void CountDeal(Slot slot, ReceivingCpu cpu);
  bool IsCovered() const;

  const Policy* policy_;
  PolicyRules rules_;
  std::vector<WorkerView> workers_;  // by slot
  std::vector<Slot> members_;        // in no order
  std::vector<size_t> places_;       // by slot: its index in members_
  RankHeap eligible_;
  RankHeap busy_;
  uint64_t load_ = 0;
  uint64_t eligible_load_ = 0;    // the sum of their loads
  uint64_t eligible_weight_ = 0;  // and of their weights, in kWholePart
  Seats seats_;
  std::shared_ptr<const Deck> deck_;
  std::vector<size_t> cursors_;  // by row: the place in its sequence of the next turn
  bool covered_ = false;         // every seat is one of a receiving CPU, and nobody came after
  DealCounts counts_;
  size_t next_to_read_ = 0;
  uint64_t deals_ = 0;
  // The turn of the last one dealt to: who joins or comes back starts here, so that it neither
  // catches up on what it missed nor waits.
  uint64_t current_turn_ = 0;
};

}  // namespace ringdeal
