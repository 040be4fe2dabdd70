// What part of a listener's connections each CPU receives: counted, with the past fading. One
// thread counts, one asks; they may be two.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/dealing/deck.h"

namespace ringdeal {

class ReceiveShares {
 public:
  // At first all CPUs that may be used are equal. A connection counts half after `half_life_ns`,
  // which is above 0. When fewer come, the last kMemory of them are remembered for as long as it
  // takes: an idle listener forgets nothing, and one connection after an idle hour does not decide.
  ReceiveShares(const Topology& topology, uint64_t half_life_ns, uint64_t now_ns);

  static constexpr double kMemory = 256;
  // A CPU that receives less of all connections than this is no receiving CPU.
  static constexpr double kLeastShare = 1e-4;

  // A connection was received. Costs one increment. A CPU that the topology did not have counts as
  // one that was not said.
  void Count(ReceivingCpu cpu) {
    const size_t index = static_cast<size_t>(cpu) + 1;
    std::atomic<uint64_t>& count = counts_[index < counts_.size() ? index : 0];
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  // By the thread that asks: from its next question on.
  void UseHalfLife(uint64_t half_life_ns) { half_life_ns_ = static_cast<double>(half_life_ns); }

  // In ascending order of CPU; never empty. REQUIRES: time does not run backwards.
  std::vector<Receiver> Shares(uint64_t now_ns);

  // The drift from earlier shares that is worth a new deck: more than what chance alone makes of as
  // many connections as are remembered. The fewer those and the more CPUs, the greater it is.
  // `shares`: the last ones.
  double WorthwhileDrift(std::span<const Receiver> shares) const;

 private:
  std::vector<std::atomic<uint64_t>> counts_;  // by CPU + 1; only grow
  std::vector<uint64_t> seen_;                 // of counts_, at the last look
  std::vector<double> weights_;                // by CPU + 1; of connections, faded
  double total_ = kMemory;                     // of weights_
  double half_life_ns_;
  uint64_t last_ns_;
};

// The part of all connections, 0 to 1, that other CPUs receive by `b` than by `a`, each in
// ascending order of CPU.
double Drift(std::span<const Receiver> a, std::span<const Receiver> b);

}  // namespace ringdeal
