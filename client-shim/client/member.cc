// Joining, leaving, what a fork does: the part of Member that runs seldom.
#include "client-shim/client/member.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>

#include <cerrno>
#include <cstdio>
#include <span>

#include "client-shim/client/failpoint.h"
#include "client-shim/client/member_use.h"
#include "client-shim/client/page_writer.h"
#include "client-shim/client/ready_set.h"
#include "protocol/descriptor_passing.h"
#include "protocol/new_clients.h"
#include "protocol/nonblocking_listener.h"
#include "protocol/socket_identity.h"
#include "protocol/system_calls.h"

namespace ringdeal::client {
namespace {

// Longer than the longest join; a signal handler that interrupts the changing thread itself must
// not wait for ever.
constexpr int kSettleMilliseconds = 300;

bool IsNonBlocking(int descriptor) {
  const int flags = sys::Control(descriptor, F_GETFL, 0);
  return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

// The other end of the door is closed: no ringdeald will ever answer there.
bool IsDead(const SystemError& error) {
  return error.number == EPIPE || error.number == ECONNRESET || error.number == ECONNREFUSED;
}

}  // namespace

Form Member::SettledForm() const {
  const int saved_errno = errno;
  Form form = form_.load(std::memory_order_acquire);
  for (int i = 0; form == Form::kChanging && i < kSettleMilliseconds; ++i) {
    const timespec pause = {0, 1'000'000};
    nanosleep(&pause, nullptr);
    form = form_.load(std::memory_order_acquire);
  }
  errno = saved_errno;
  return form;
}

bool Member::BeginJoin() {
  Form expected = Form::kApart;
  return form_.compare_exchange_strong(expected, Form::kChanging);
}

UniqueFd Member::OpenControl(const JoinRequest& request, int* failure) {
  // Through the door first: it works after chroot and setuid, and it carries the right of the
  // process that opened it.
  if (door_.valid()) {
    Result<UniqueFd> control = ConnectThroughDoor(door_.get());
    if (control) return std::move(*control);
    if (IsDead(control.error())) Retire(door_.Take());
  }
  Result<UniqueFd> control = ConnectToControl(request.control_path);
  if (control) return std::move(*control);
  *failure = control.error().number;
  LetNewClientsIn(listener_.get());  // whom a ringdeald turned away that is gone
  return UniqueFd();
}

bool Member::AdoptRegistration(Registration* registration) {
  if (!ready_set_.valid()) return false;
  Retire(channel_.Put(std::move(registration->channel)));
  if (!channel_.valid()) return false;
  SetReceiveTimeout({wait_ms_.load() / 1000, wait_ms_.load() % 1000 * 1000});
  // One that was closed has a successor.
  const bool is_useless = !listener_.valid() || IsShutDown(listener_.get());
  if (is_useless && registration->listener) {
    // Others may have it, so that it would stay in the set, and be readable, after its number went.
    if (listener_.valid()) RemoveFromReadySet(ready_set_.get(), listener_.get());
    Retire(listener_.Put(std::move(registration->listener)));
  }
  cannot_be_direct_.store(false);
  page_.store(registration->page.Release(), std::memory_order_release);
  AddToReadySet(ready_set_.get(), channel_.get());
  return true;
}

void Member::TellState() {
  Page* page = page_.load(std::memory_order_relaxed);
  if (page == nullptr) return;
  RINGDEAL_FAILPOINT("not-started");
  SetStyle(page, one_at_a_time_.load(), -1);
  SetState(page, promoted_.load() ? WorkerState::kWorker : WorkerState::kObserver, control_.get());
}

void Member::PublishJoined(const JoinRequest& request, Form form) {
  if (request.install != nullptr) request.install(request.context, ready_set_.get());
  TellState();
  form_.store(form, std::memory_order_release);
}

Answer Member::Join(const JoinRequest& request, char* text, size_t size) {
  CloseInherited();
  promoted_.store(!request.words.observer);
  one_at_a_time_.store(request.words.one_at_a_time);
  int failure = 0;
  Registration registration;
  UniqueFd control = OpenControl(request, &failure);
  std::snprintf(registration.text, sizeof(registration.text), "nobody answers at %s (errno %d)",
                request.control_path, failure);
  if (control && SendRegistration(control.get(), request.words, listener_.get())) {
    registration = ReceiveRegistration(control.get(), request.patience_ms);
  }
  const Answer answer = registration.answer;
  const bool direct = answer == Answer::kLate || request.direct_at_least ||
                      (answer == Answer::kAbsent && request.direct_if_absent) ||
                      (request.direct_if_nonblocking && IsNonBlocking(listener_.get()));
  std::snprintf(text, size, "%s", registration.text);
  if (!ready_set_.valid() && (answer == Answer::kGiven || direct)) {
    Result<UniqueFd> set = CreateReadySet();
    if (set) Retire(ready_set_.Put(std::move(*set)));
  }
  if (answer == Answer::kGiven || answer == Answer::kLate) {
    Retire(control_.Put(std::move(control)));
  }
  if (answer == Answer::kGiven && AdoptRegistration(&registration)) {
    PublishJoined(request, Form::kHandoff);
    return answer;
  }
  if (answer == Answer::kGiven) Retire(control_.Take());  // no descriptor was free for it
  if (ready_set_.valid() && direct) {
    if (answer == Answer::kLate) AwaitAnswer(request.answer_wakes);
    PlanNextLook(answer);
    StartDirect();
    PublishJoined(request, Form::kDirect);
    return answer;
  }
  Retire(ready_set_.Take());
  form_.store(Form::kApart, std::memory_order_release);
  return answer == Answer::kGiven ? Answer::kRefused : answer;
}

void Member::JoinFamily() {
  shutdown(control_.get(), SHUT_RDWR);
  RemoveFromReadySet(ready_set_.get(), channel_.get());
  AddListenerToReadySet(ready_set_.get(), listener_.get());
  Retire(control_.Take());
  Retire(channel_.Take());
  inherited_.store(false);
  shares_ready_set_.store(true);
  form_.store(Form::kDirect, std::memory_order_release);
}

// Only the numbers: what they refer to is the parent's.
void Member::CloseInherited() {
  if (!inherited_.exchange(false)) return;
  Retire(control_.Take());
  Retire(channel_.Take());
  Retire(ready_set_.Take());
}

void Member::Promote() {
  if (promoted_.load(std::memory_order_relaxed)) return;
  promoted_.store(true);
  Use use(this);
  if (form_.load(std::memory_order_acquire) == Form::kDirect && listener_.valid() && !HasLost()) {
    (void)MakeListenerNonBlocking(listener_.get());
  }
  Page* page = page_.load(std::memory_order_acquire);
  if (page != nullptr) SetState(page, WorkerState::kWorker, control_.get());
}

void Member::SetPaused(bool paused) {
  Use use(this);
  Page* page = page_.load(std::memory_order_acquire);
  if (page == nullptr) return;
  const WorkerState awake = promoted_.load() ? WorkerState::kWorker : WorkerState::kObserver;
  SetState(page, paused ? WorkerState::kPaused : awake, control_.get());
}

void Member::SetOneAtATime(bool one_at_a_time) {
  Use use(this);
  one_at_a_time_.store(one_at_a_time);
  Page* page = page_.load(std::memory_order_acquire);
  if (page == nullptr) return;
  SetStyle(page, one_at_a_time, control_.get());
  if (HasNewOrder(*page)) FollowOrder();
}

int Member::SetReceiveTimeout(const timeval& timeout) {
  Use use(this);
  constexpr int64_t kLongest = INT32_MAX;
  const int64_t ms = timeout.tv_sec < kLongest / 1000
                         ? int64_t{timeout.tv_sec} * 1000 + (timeout.tv_usec + 999) / 1000
                         : kLongest;
  wait_ms_.store(static_cast<int>(ms));
  if (!channel_.valid()) return 0;
  return setsockopt(channel_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
}

void Member::Leave(bool for_good) {
  Use use(this);
  const int saved_errno = errno;
  SettledForm();
  const bool was_direct = form_.exchange(Form::kApart) == Form::kDirect;
  next_look_.store(0);
  // A child that has not joined leaves nothing: what it holds is its parent's.
  const bool ours = !inherited_.load() && !shares_ready_set_.load();
  Page* page = page_.exchange(nullptr);
  if (page != nullptr) SetState(page, WorkerState::kLeft, -1);
  RINGDEAL_FAILPOINT("left-stored");
  if (ours && control_.valid()) {
    (void)SendWithDescriptors(control_.get(),
                              std::as_bytes(std::span(kLeaveLine, sizeof(kLeaveLine) - 1)), {}, {},
                              MSG_DONTWAIT);
    // Not only closed: a forked child may hold a copy.
    shutdown(control_.get(), SHUT_RDWR);
  }
  if (ours && ready_set_.valid()) {
    if (channel_.valid()) {
      RemoveFromReadySet(ready_set_.get(), channel_.get());
      shutdown(channel_.get(), SHUT_RD);  // wakes who blocks in accept
    }
    if (control_.valid()) RemoveFromReadySet(ready_set_.get(), control_.get());
    if (listener_.valid()) RemoveFromReadySet(ready_set_.get(), listener_.get());
    if (was_direct && users_.load() > 1) Retire(WakeReadySet(ready_set_.get()));
  }
  Retire(control_.Take());
  Retire(channel_.Take());
  if (for_good) {
    Retire(ready_set_.Take());
    Retire(listener_.Take());
    Retire(door_.Take());
    inherited_.store(false);
    shares_ready_set_.store(false);
  }
  errno = saved_errno;
}

int Member::BeginUse() {
  users_.fetch_add(1);
  return forks_.load();
}

void Member::EndUse(int forks) {
  if (forks_.load() == forks && users_.fetch_sub(1) == 1) Reap();
}

void Member::AfterFork() {
  forks_.fetch_add(1);
  users_.store(0);
  being_careful_.store(false);
  promoted_.store(false);
  page_.store(nullptr);
  next_look_.store(0);
  failures_.store(0);
  if (form_.exchange(Form::kApart) != Form::kApart) inherited_.store(ready_set_.valid());
  shares_ready_set_.store(false);
}

void Member::Renumber(int from, int to) {
  for (PrivateFd* held : {&listener_, &door_, &ready_set_, &channel_, &control_}) {
    if (!held->Renumber(from, to)) continue;
    // The set knows what is inside by its number. What it shares with the parent is left to it.
    const bool ours = !inherited_.load() && !shares_ready_set_.load();
    if (!ours || !RemoveFromReadySet(ready_set_.get(), from)) return;
    if (held != &listener_) return AddToReadySet(ready_set_.get(), to);
    if (!AddListenerToReadySet(ready_set_.get(), to)) cannot_be_direct_.store(true);
    return;
  }
}

void Member::Retire(int number) {
  if (number < 0) return;
  if (users_.load() == 0) return Discard(number);
  for (std::atomic<int>& place : retired_) {
    int expected = 0;
    if (place.compare_exchange_strong(expected, number + 1)) return;
  }
  // More replaced within one stay than any path replaces; better a number that stays open than one
  // that is closed under a thread.
}

void Member::Reap() {
  for (std::atomic<int>& place : retired_) {
    if (place.load(std::memory_order_relaxed) != 0) Discard(place.exchange(0) - 1);
  }
}

}  // namespace ringdeal::client
