// The workers in whose channel connections wait, and those among them that do not come for theirs:
// what they hold is to go to others. Guarded by the dealer's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/dealing/view.h"
#include "daemon/workers/worker.h"

namespace ringdeal {

class Untaken {
 public:
  using Workers = std::vector<std::unique_ptr<Worker>>;  // by slot

  // `recall_after_ns`: how long a worker may show no sign of life while a connection waits for it.
  Untaken(const Workers* workers, View* view, uint64_t recall_after_ns)
      : workers_(workers), view_(view), recall_after_ns_(recall_after_ns) {}

  void UseRecallAfter(uint64_t recall_after_ns) { recall_after_ns_ = recall_after_ns; }

  // A connection was sent to it.
  void Add(Slot slot);
  void Remove(Slot slot);
  // Of workers that have taken what waited, by the last look at their lines.
  void ForgetTaken();
  bool empty() const { return slots_.empty(); }
  const std::vector<Slot>& slots() const { return slots_; }

  // A machine keeps every process from running for some milliseconds now and then. Moving its
  // connections then would leave the spread uneven for as long as they live. So before this many
  // times `recall_after` only what makes the loads no less even is moved, and a process that is
  // runnable is waited for ten times longer: it runs, or it would if it could.
  static constexpr uint64_t kUnevenTimes = 8;
  static constexpr uint64_t kRunnableTimes = 80;

  struct Overdue {
    Slot slot = 0;
    bool unless_runnable = false;
  };
  // Those that do not come, while another worker is free. REQUIRES: the lines of all slots() were
  // just read.
  std::vector<Overdue> FindOverdue(uint64_t now_ns);

 private:
  bool IsStuck(Slot slot, uint64_t now_ns) const;
  std::optional<Slot> FirstEligibleBut(const std::vector<WorkerView>& stuck);
  bool WouldBeEven(Slot slot, const WorkerView& other) const;

  const Workers* workers_;
  View* view_;
  uint64_t recall_after_ns_;
  std::vector<Slot> slots_;
  std::vector<bool> listed_;  // by slot: is it among slots_?
};

}  // namespace ringdeal
