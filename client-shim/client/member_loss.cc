// Private descriptors that the program has closed unseen: the part of Member that must not take a
// file of the program's for one of its own.
#include <sys/socket.h>

#include <cerrno>

#include "client-shim/client/member.h"
#include "client-shim/client/member_use.h"
#include "client-shim/client/page_writer.h"
#include "client-shim/client/ready_set.h"

namespace ringdeal::client {
namespace {

constexpr uint64_t kCheckIsOld = 10'000'000;  // ns

}  // namespace

bool Member::HasLost() {
  const uint64_t now = Now();
  if (now - checked_at_.load(std::memory_order_relaxed) > kCheckIsOld) {
    checked_at_.store(now, std::memory_order_relaxed);
    for (const PrivateFd* each : {&listener_, &door_, &ready_set_, &channel_, &control_}) {
      if (each->valid() && !IsKept(each->get())) lost_.store(true);
    }
  }
  return lost_.load(std::memory_order_relaxed);
}

void Member::Abandon() {
  Use use(this);
  const int saved_errno = errno;
  Form form = SettledForm();
  if (form == Form::kApart || !form_.compare_exchange_strong(form, Form::kChanging)) return;
  Page* page = page_.exchange(nullptr);
  if (page != nullptr) SetState(page, WorkerState::kLeft, -1);
  if (IsKept(control_.get())) shutdown(control_.get(), SHUT_RDWR);
  if (IsKept(ready_set_.get())) {
    for (const PrivateFd* inside : {&channel_, &control_, &listener_}) {
      if (inside->valid()) RemoveFromReadySet(ready_set_.get(), inside->get());
    }
  }
  Retire(control_.Take());
  Retire(channel_.Take());
  for (PrivateFd* each : {&listener_, &door_, &ready_set_}) {
    if (each->valid() && !IsKept(each->get())) Retire(each->Take());
  }
  lost_.store(false);
  next_look_.store(0);
  form_.store(Form::kApart, std::memory_order_release);
  errno = saved_errno;
}

// What came was no frame, or an error: either ringdeald's doing, or it is not the channel.
bool Member::LostChannel() {
  if (!IsKept(channel_.get())) lost_.store(true);
  return lost_.load();
}

}  // namespace ringdeal::client
