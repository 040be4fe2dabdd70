// Accepting from the real listener: because ringdeald said so, or is gone, and getting it back.
#include <unistd.h>

#include <cerrno>

#include "client-shim/client/back_off.h"
#include "client-shim/client/member.h"
#include "client-shim/client/member_use.h"
#include "client-shim/client/page_writer.h"
#include "client-shim/client/ready_set.h"
#include "client-shim/client/receive.h"
#include "protocol/new_clients.h"
#include "protocol/nonblocking_listener.h"
#include "protocol/socket_identity.h"

namespace ringdeal::client {

// A listener that this process only watches keeps its flag: who accepts on it may be another
// program, which counts on accept to block. One that ringdeald has closed would be readable for
// ever. False if nothing that comes to the listener will wake this process.
bool Member::StartDirect() {
  if (!listener_.valid()) return false;
  if (IsShutDown(listener_.get())) {
    RemoveFromReadySet(ready_set_.get(), listener_.get());
    return false;
  }
  if (promoted_.load()) (void)MakeListenerNonBlocking(listener_.get());
  return AddListenerToReadySet(ready_set_.get(), listener_.get());
}

void Member::EndChange(Form form) {
  Form expected = Form::kChanging;
  form_.compare_exchange_strong(expected, form, std::memory_order_release,
                                std::memory_order_relaxed);
}

// One that blocks in accept waits on the channel alone, so it goes on as it is.
PageMode Member::OrderFor(const Page& page) const {
  const PageMode mode = page.orders.mode.load(std::memory_order_seq_cst);
  const bool can = !one_at_a_time_.load(std::memory_order_relaxed) && listener_.valid() &&
                   !cannot_be_direct_.load(std::memory_order_relaxed);
  return mode == PageMode::kDirect && !can ? PageMode::kHandoff : mode;
}

// Acknowledged only once it is done, and then looked at again: ringdeald may have changed its mind
// meanwhile, and what it reads last must be about what it said last.
void Member::FollowOrder() {
  Form expected = Form::kHandoff;
  if (!form_.compare_exchange_strong(expected, Form::kChanging)) return;
  const int saved_errno = errno;
  Page* page = page_.load(std::memory_order_relaxed);
  while (HasNewOrder(*page)) {
    const PageMode order = OrderFor(*page);
    if (order == PageMode::kDirect) {
      if (!StartDirect()) {
        cannot_be_direct_.store(true);
        continue;
      }
    } else {
      RemoveFromReadySet(ready_set_.get(), listener_.get());
    }
    page->signs.mode_seen.store(order, std::memory_order_seq_cst);
  }
  EndChange(Form::kHandoff);
  client::Poke(control_.get());
  errno = saved_errno;
}

void Member::LoseRingdeald() {
  Form expected = Form::kHandoff;
  if (!form_.compare_exchange_strong(expected, Form::kChanging)) return;
  const int saved_errno = errno;
  RemoveFromReadySet(ready_set_.get(), channel_.get());
  SetState(page_.exchange(nullptr), WorkerState::kLeft, -1);
  Retire(channel_.Take());
  Retire(control_.Take());
  // Who was here to turn clients away is gone.
  LetNewClientsIn(listener_.get());
  StartDirect();
  PlanNextLook(Answer::kAbsent);
  EndChange(Form::kDirect);
  errno = saved_errno;
}

void Member::NoticeEnd() {
  if (promoted_.load(std::memory_order_relaxed)) return;
  Use use(this);
  const int saved_errno = errno;
  const bool dealt = form_.load(std::memory_order_acquire) == Form::kHandoff && !HasLost();
  if (dealt && HasEnded(channel_.get())) LoseRingdeald();
  errno = saved_errno;
}

void Member::LookForRingdeald(const JoinRequest& request) {
  Use use(this);
  if (HasLost()) return;
  const uint64_t next = next_look();
  Form expected = Form::kDirect;
  // Whom the answer wakes looks at once, or it would be woken again and again.
  const bool at_once = answer_wakes_.load() && control_.valid();
  if (next == 0 || (!at_once && Now() < next)) return;
  if (!form_.compare_exchange_strong(expected, Form::kChanging)) return;
  const int saved_errno = errno;
  Registration registration;
  if (control_.valid()) {
    registration = ReceiveRegistration(control_.get(), 0);
  } else {
    registration.answer = RegisterAgain(request);
  }
  EndChange(TakeAnswer(&registration));
  errno = saved_errno;
}

Answer Member::RegisterAgain(const JoinRequest& request) {
  int failure = 0;
  RegisterRequest words = request.words;
  words.observer = !promoted_.load();
  words.one_at_a_time = one_at_a_time_.load();
  UniqueFd control = OpenControl(request, &failure);
  if (!control || !SendRegistration(control.get(), words, listener_.get())) return Answer::kAbsent;
  Retire(control_.Put(std::move(control)));
  AwaitAnswer(request.answer_wakes);
  return Answer::kLate;
}

// What waits in the listener's accept queue now is ringdeald's to accept.
Form Member::TakeAnswer(Registration* registration) {
  Answer answer = registration->answer;
  if (answer != Answer::kLate) RemoveFromReadySet(ready_set_.get(), control_.get());
  if (answer == Answer::kGiven && AdoptRegistration(registration)) {
    RemoveFromReadySet(ready_set_.get(), listener_.get());
    next_look_.store(0);
    failures_.store(0);
    TellState();
    return Form::kHandoff;
  }
  if (answer == Answer::kGiven) answer = Answer::kAbsent;  // no descriptor was free for it
  if (answer != Answer::kLate) Retire(control_.Take());
  PlanNextLook(answer);
  return Form::kDirect;
}

void Member::AwaitAnswer(bool wakes) {
  answer_wakes_.store(wakes);
  if (wakes && control_.valid()) AddToReadySet(ready_set_.get(), control_.get());
  asked_at_.store(Now());
}

void Member::PlanNextLook(Answer answer) {
  const uint64_t now = Now();
  switch (answer) {
    case Answer::kLate:
      return next_look_.store(now + DelayOfLook(now - asked_at_.load()));
    case Answer::kAbsent:
      return next_look_.store(
          now + DelayOfAttempt(failures_.fetch_add(1), static_cast<uint64_t>(getpid()) ^ now));
    case Answer::kRefused:
    case Answer::kGiven:
      return next_look_.store(0);
  }
}

}  // namespace ringdeal::client
