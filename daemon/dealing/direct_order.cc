#include "daemon/dealing/direct_order.h"

namespace ringdeal {

bool DirectOrder::Decide(bool allowed) {
  const bool may = allowed && view_->size() == 1;
  if (slot_) return may && (*workers_)[*slot_]->MayBeDirect() ? false : End();
  if (!may) return false;
  const Slot slot = view_->members().front();
  if (!(*workers_)[slot]->IsReadyForDirect()) return false;
  (*workers_)[slot]->SetDirect(true);
  slot_ = slot;
  return true;
}

bool DirectOrder::End() {
  if (!slot_) return false;
  (*workers_)[*slot_]->SetDirect(false);
  slot_.reset();
  return true;
}

void DirectOrder::Forget(Slot slot) {
  if (slot_ == slot) slot_.reset();
}

bool DirectOrder::IsFollowed() const { return slot_ && (*workers_)[*slot_]->IsDirect(); }

}  // namespace ringdeal
