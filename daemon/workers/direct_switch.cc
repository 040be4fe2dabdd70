#include "daemon/workers/direct_switch.h"

#include "daemon/operating/log.h"

namespace ringdeal {

void DirectSwitch::NoteChange(const ListenerPtr& listener) {
  if (!changes_.contains(listener.get())) {
    std::erase_if(changes_, [](const auto& each) { return each.second.listener.expired(); });
  }
  Change& change = changes_[listener.get()];
  change.listener = listener;
  change.is_recent = true;
  if (change.timer == nullptr) {
    change.timer = loop_->MakeTimer([this, place = &change] {
      place->is_recent = false;
      if (const ListenerPtr still = place->listener.lock()) Decide(still);
    });
  }
  change.timer->Arm(kQuiet);
}

void DirectSwitch::Look(const ListenerPtr& listener) {
  const auto found = changes_.find(listener.get());
  if (found != changes_.end() && !found->second.is_recent) Decide(listener);
}

void DirectSwitch::Stop() {
  stopped_ = true;
  for (const ListenerPtr& listener : listeners_->all()) Decide(listener);
}

void DirectSwitch::Decide(const ListenerPtr& listener) {
  const bool allowed = !stopped_ && listener->sockets().size() == 1;
  if (!listener->dealer().DecideDirect(allowed)) return;
  Log(LogLevel::kDebug, "direct_decided", {{"listener", listener->name()}});
  listeners_->Wake(listener);
}

}  // namespace ringdeal
