// The result of the ring deal: for each receiving CPU the workers on which it spends its share, and
// how much on each, as sequences in which every window is fair. Pure and constant once dealt; any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/dealing/policy.h"
#include "daemon/dealing/topology.h"

namespace ringdeal {

// Shares and weights are relative: only their proportions count. One that is not above 0, or a
// share below a millionth of all, is as if it were not there.
struct Receiver {
  ReceivingCpu cpu = -1;
  double share = 1;
  bool operator==(const Receiver&) const = default;
};
struct Claim {
  Slot slot = 0;
  double weight = 1;
  Place place = kAnywhere;
  bool operator==(const Claim&) const = default;
};

class Deck {
 public:
  struct Stake {
    Slot slot = 0;
    double share = 0;  // of all connections of the listener; those of all rows add up to 1
    Ring ring = kFarthestRing;
    bool operator==(const Stake&) const = default;
  };
  struct Row {
    ReceivingCpu cpu = -1;
    std::vector<Stake> stakes;  // nearest first
    std::vector<Slot>
        sequence;  // without clusters; not empty. A stake too small for it is left out
    bool operator==(const Row&) const = default;
  };

  // No rows: a listener without workers.
  Deck() = default;

  // Greedy from the leaves up. Rows are in ascending order of CPU. A CPU that the topology does not
  // have (or -1: not said) sits at the machine. Without a receiver: one row, of CPU -1. Without
  // claims: no rows. Each slot comes in one claim, and in the sequence of at least one row. The
  // order of receivers and claims does not matter.
  static Deck Deal(const Topology& topology, std::span<const Receiver> receivers,
                   std::span<const Claim> claims);

  std::span<const Row> rows() const { return rows_; }
  // The index of the CPU's row; of a CPU that received nothing yet: a row nearest to it.
  // REQUIRES: rows is not empty.
  size_t RowOf(ReceivingCpu cpu) const {
    const size_t index = static_cast<size_t>(cpu) + 1;
    return row_of_[index < row_of_.size() ? index : 0];
  }
  bool operator==(const Deck&) const = default;

 private:
  void FindNearestRows(const Topology& topology);

  std::vector<Row> rows_;
  std::vector<uint32_t> row_of_;  // by CPU + 1
};

}  // namespace ringdeal
