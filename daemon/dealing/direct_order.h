// Whether the only worker of a listener is to accept by itself, and whether it does. Guarded by the
// dealer's lock.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "daemon/dealing/view.h"
#include "daemon/workers/worker.h"

namespace ringdeal {

class DirectOrder {
 public:
  using Workers = std::vector<std::unique_ptr<Worker>>;  // by slot

  DirectOrder(const Workers* workers, const View* view) : workers_(workers), view_(view) {}

  // Gives the order if there is exactly one process, it can, and `allowed`; ends it if one of these
  // is not so any more. Returns true if it gave or ended one.
  bool Decide(bool allowed);
  // The worker accepts from its channel alone again, and beside us until it acts on that. Returns
  // true if there was an order.
  bool End();
  // The worker with this slot is told something else, or is gone.
  void Forget(Slot slot);

  // True once the worker has acknowledged: there is no need to accept for it. Both a new process
  // and a worker that goes back to its channel end this.
  bool IsFollowed() const;

 private:
  const Workers* workers_;
  const View* view_;
  std::optional<Slot> slot_;  // whom it was given to
};

}  // namespace ringdeal
