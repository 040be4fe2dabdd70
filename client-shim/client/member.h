// This process as a member of one listener: it joins through ringdeald, takes what is handed to it,
// and accepts from the listener itself when ringdeald is not there. What a program watches is the
// ready set; what is inside follows the form. Shared by the shim and the C API.
//
// Any thread, signal handlers too: no lock is held across a blocking call, nothing is allocated.
#pragma once

#include <sys/socket.h>
#include <sys/time.h>

#include <atomic>

#include "client-shim/client/private_descriptor.h"
#include "client-shim/client/receive.h"
#include "client-shim/client/registration.h"
#include "protocol/handoff_frame.h"
#include "protocol/page.h"

namespace ringdeal::client {

enum class Form : uint32_t {
  kApart,     // not joined in this process
  kChanging,  // a thread is changing the form; for no longer than a join may wait
  kHandoff,   // connections come through the channel, and while the page says direct, from the
              // real listener too
  kDirect,    // without ringdeald: from the real listener; ringdeald may be looked for
};

struct JoinRequest {
  const char* control_path = nullptr;
  RegisterRequest words;
  int patience_ms = 0;
  // Start in direct form also if ringdeald is not there, so that it may come later.
  bool direct_if_absent = false;
  // The same, also if it refuses.
  bool direct_at_least = false;
  // The same, if the listener turns out to be O_NONBLOCK: one that was joined elsewhere, in a
  // program that counts on accept to block.
  bool direct_if_nonblocking = false;
  // An answer that is awaited makes the ready set readable: for who does not look for it by itself.
  bool answer_wakes = false;
  // Called with the ready set before anybody can see the new form: puts it into the listener's
  // place.
  void (*install)(void* context, int ready_set) = nullptr;
  void* context = nullptr;
};

class Member {
 public:
  // A thread's stay: while it lasts, no number that the thread may have read is closed.
  class Use;
  // One that blocks, and from which the thread may not come back.
  class BlockingUse;

  Member() = default;
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // The form, once nobody is changing it.
  Form SettledForm() const;
  // The page of this membership, null outside of kHandoff.
  Page* page() const { return page_.load(std::memory_order_acquire); }
  int control() const { return control_.get(); }
  int channel() const { return channel_.get(); }
  int ready_set() const { return ready_set_.get(); }
  int listener() const { return listener_.get(); }
  bool promoted() const { return promoted_.load(std::memory_order_relaxed); }
  bool has_door() const { return door_.valid(); }
  // The parent had joined, and this process not yet.
  bool inherited() const { return inherited_.load(std::memory_order_relaxed); }

  void SetListener(UniqueFd listener) { Retire(listener_.Put(std::move(listener))); }
  void SetDoor(UniqueFd door) { Retire(door_.Put(std::move(door))); }
  // One more descriptor of the ready set that stands in the listener's place.
  void SetReadySet(UniqueFd set) { Retire(ready_set_.Put(std::move(set))); }

  // True if a private descriptor is gone, closed by the program where no hook saw it; its number
  // may be a file of the program's by now. Looks every 10 ms at most.
  bool HasLost();
  // Then: keeps what is left of listener, door and ready set, and is apart.
  void Abandon();

  // ringdeald asked to hear that this process became eligible, as by a close, and it did.
  [[gnu::cold]] void Poke();

  // The calling thread is about to wait in a call of its own: the page that shows it, null if none
  // does. For client::LeaveWait.
  Page* EnterWait();

  // True for the one thread that may now call Join or JoinFamily.
  bool BeginJoin();
  // Joins. Answers what ringdeald did; unless that was kGiven, `text` says why, cut.
  Answer Join(const JoinRequest& request, char* text, size_t size);
  // The parent's ready set is watched by an epoll set that this process inherited: the whole family
  // stays direct. Ends the parent's membership and puts the listener into the set that they share.
  void JoinFamily();

  // From the first call of accept on, this process is a worker and no observer.
  void Promote();
  void SetPaused(bool paused);
  void SetOneAtATime(bool one_at_a_time);
  // After this time Wait ends with EAGAIN; 0: never. -1 and errno if the kernel refuses it.
  int SetReceiveTimeout(const timeval& timeout);

  // Takes one connection without blocking. Returns its descriptor, or -1 and errno as accept4 does,
  // EAGAIN if there is none. `counted` is the page that counts it, null if none does.
  int Accept(sockaddr* address, socklen_t* length, int flags, Page** counted);
  // Blocks until there may be a connection, or something has changed. Returns 0, or -1 and errno.
  int Wait();

  // In direct form: when to look for ringdeald next, on the clock of Now(); 0: not at all.
  uint64_t next_look() const { return next_look_.load(std::memory_order_relaxed); }
  // Looks if it is time: registers again, or takes the answer to that. Never blocks. Of the request
  // only what names the worker counts.
  void LookForRingdeald(const JoinRequest& request);
  // For a process that watches and does not accept, which would never find out that ringdeald is
  // gone.
  void NoticeEnd();
  // How long Wait may last, in milliseconds; 0: without end.
  int wait_ms() const { return wait_ms_.load(std::memory_order_relaxed); }

  // Leaves. With `for_good`, the ready set and the listener are closed as well.
  void Leave(bool for_good);

  // In a forked child, before anything else is called there: nothing here is its own any more.
  void AfterFork();

  // A private descriptor got another number.
  void Renumber(int from, int to);

 private:
  // Answers what EndUse must be told: after a fork in between there is nothing to end.
  int BeginUse();
  void EndUse(int forks);

  UniqueFd OpenControl(const JoinRequest& request, int* failure);
  bool AdoptRegistration(Registration* registration);
  void TellState();
  bool StartDirect();
  // From kChanging, unless a fork or a Leave in a signal handler has changed it meanwhile.
  void EndChange(Form form);
  void PublishJoined(const JoinRequest& request, Form form);
  void CloseInherited();
  void LoseRingdeald();
  bool LostChannel();
  Answer RegisterAgain(const JoinRequest& request);
  Form TakeAnswer(Registration* registration);
  void AwaitAnswer(bool wakes);
  void PlanNextLook(Answer answer);
  int FinishHandoff(UniqueFd connection, const HandoffFrame& frame, sockaddr* address,
                    socklen_t* length, int flags);
  int AcceptDirect(sockaddr* address, socklen_t* length, int flags, Page** counted);
  [[gnu::cold]] void LeaveShutDownListener(const Page* page);
  PageMode OrderFor(const Page& page) const;
  bool HasNewOrder(const Page& page) const {
    return OrderFor(page) != page.signs.mode_seen.load(std::memory_order_relaxed);
  }
  [[gnu::cold]] void FollowOrder();
  Received ReceiveOne(OverExec over_exec, HandoffFrame* frame, UniqueFd* connection);
  bool NearDescriptorLimit();

  void Retire(int number);
  void Reap();

  static constexpr size_t kRetired = 16;

  std::atomic<Form> form_{Form::kApart};
  std::atomic<Page*> page_{nullptr};
  PrivateFd listener_;
  PrivateFd door_;
  PrivateFd ready_set_;
  PrivateFd channel_;
  PrivateFd control_;
  std::atomic<uint64_t> checked_at_{0};
  std::atomic<bool> lost_{false};
  std::atomic<bool> inherited_{false};
  std::atomic<bool> shares_ready_set_{false};  // with the parent: its content is not ours to change
  std::atomic<bool> promoted_{false};
  std::atomic<bool> one_at_a_time_{false};
  std::atomic<int> wait_ms_{0};  // 0: without end
  // Written by the thread that changes the form.
  std::atomic<uint64_t> next_look_{0};
  std::atomic<uint64_t> asked_at_{0};
  std::atomic<unsigned> failures_{0};  // in a row, to find ringdeald
  std::atomic<bool> answer_wakes_{false};
  // Written by any thread that finds out; false again with the next registration.
  std::atomic<bool> cannot_be_direct_{false};
  std::atomic<bool> being_careful_{false};
  // The number that the last accept gave, and what the last look at the highest numbers found: a
  // full process that closes a low one is given that one, and is full again.
  std::atomic<int> last_number_{0};
  std::atomic<uint64_t> looked_at_{0};
  std::atomic<uint64_t> looked_below_{0};  // the limit at that time
  std::atomic<bool> had_room_{false};
  // Threads that may be using one of the numbers above. What is replaced waits in `retired_` until
  // there is none: a number that is closed under a thread could by then be another file.
  std::atomic<int> users_{0};
  std::atomic<int> forks_{0};                // how often AfterFork was called
  std::atomic<int> retired_[kRetired] = {};  // plus one
};

}  // namespace ringdeal::client
