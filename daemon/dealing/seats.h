// Where the workers of a listener sit on the machine's tree, and which of those that sit within an
// object comes first. Pure; guarded by the dealer's lock.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "daemon/dealing/policy.h"
#include "daemon/dealing/rank_heap.h"
#include "daemon/dealing/topology.h"
#include "daemon/dealing/worker_view.h"

namespace ringdeal {

struct Seat {
  Slot slot = 0;
  Place place = kAnywhere;
  bool set = false;  // by the operator, not found out
  bool operator==(const Seat&) const = default;
};

// So many turns for each of its workers an object may be ahead of its share, before it is passed
// over where a connection goes to another than the row's next.
inline constexpr double kMostAhead = 16;

class Seats {
 public:
  Seats() : Seats(std::make_shared<const Topology>(), {}) {}
  // REQUIRES: no slot sits twice, every place is one of the topology's.
  Seats(std::shared_ptr<const Topology> topology, std::vector<Seat> seats);

  // Whether those that were just made are the same, so that these can stay.
  bool Match(const Seats& made) const;

  // How many workers they were made for.
  size_t size() const { return seats_.size(); }

  // The worker may be picked, in this order among those around it.
  void Put(Slot slot, const Rank& rank);
  // It may not be picked now.
  void Remove(Slot slot);
  // It is gone: whoever has the slot next sits nowhere in particular.
  void Leave(Slot slot);

  // The places to look at for a connection received on `cpu`, each with all workers of the one
  // before and more: from Around outward until kAnywhere, which is everybody and has no first. No
  // more of them than the tree is high.
  Place Around(ReceivingCpu cpu) const { return telling_[OwnPlace(cpu)]; }
  // The smallest of those that have the worker.
  Place AroundWorker(Slot slot) const { return telling_[PlaceOf(slot)]; }
  Place Outward(Place place) const { return telling_[topology_->objects()[place].parent]; }
  // REQUIRES: place is one of those.
  std::optional<Slot> FirstWithin(Place place) const { return heaps_[place].First(); }

  // The worker was given a connection, which is so many turns of one of the mean weight, while each
  // was due `due` turns.
  void Serve(Slot slot, double turns, double due);
  // Whether those within have had more than their share. Nearest to the CPUs that receive, they
  // would get all that the guard turns away elsewhere, for as long as it lets them.
  bool IsAhead(Place place) const;

  Ring Distance(ReceivingCpu cpu, Slot slot) const;
  // Nothing for one that took the slot after the seats were made.
  const Seat* SeatOf(Slot slot) const;
  // Those that sit on exactly this CPU, in ascending order.
  std::span<const Slot> At(ReceivingCpu cpu) const;

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  Place PlaceOf(Slot slot) const;
  Place OwnPlace(ReceivingCpu cpu) const { return topology_->PlaceOf(cpu).value_or(kAnywhere); }

  std::shared_ptr<const Topology> topology_;
  std::vector<Seat> seats_;
  std::vector<size_t> seat_of_;             // by slot: its index in seats_, or kNone
  std::vector<std::vector<Slot>> sitting_;  // by place: those that sit on it and no smaller one
  // By place: itself, or the nearest one around it that has some workers and not just the same as
  // its parent. Only those have heaps.
  std::vector<Place> telling_;
  std::vector<RankHeap> heaps_;  // by place, of all within it
  std::vector<size_t> within_;   // by place: how many sit within it
  std::vector<double> served_;   // by place: the turns that those within it had
  double due_ = 0;               // the turns that each worker should have had
};

}  // namespace ringdeal
