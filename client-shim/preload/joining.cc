#include "client-shim/preload/joining.h"

#include <fcntl.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>

#include "client-shim/client/failpoint.h"
#include "client-shim/client/kernel_call_linux.h"
#include "client-shim/client/registration.h"
#include "client-shim/preload/connections.h"
#include "client-shim/preload/process.h"
#include "client-shim/preload/process_directory.h"
#include "client-shim/preload/real_calls.h"
#include "client-shim/preload/settings.h"
#include "protocol/nonblocking_listener.h"
#include "protocol/socket_identity.h"

namespace ringdeal::shim {
namespace {

using client::Answer;
using client::Form;

constexpr int kPatienceMilliseconds = 100;

// ringdeald once did not answer in time. It is not waited for again, neither here nor in children.
constinit std::atomic<bool> out_of_patience{false};
constinit std::atomic<bool> said_why_not{false};
constinit std::atomic<bool> said_unseen{false};
constinit std::atomic<bool> said_no_room{false};
constinit std::atomic<bool> said_no_weight{false};

int WholePatience() { return RINGDEAL_PATIENCE(kPatienceMilliseconds); }
int Patience() { return out_of_patience.load() ? 0 : WholePatience(); }

// Keeps the first reason; programs with many workers would repeat it.
void SayWhyNot(const char* address, Answer answer, const char* text) {
  if (answer == Answer::kGiven || said_why_not.exchange(true)) return;
  const char* what = answer == Answer::kLate ? "ringdeald is slow to answer, going on without it"
                     : answer == Answer::kRefused
                         ? "ringdeald did not take the listener"
                         : "no ringdeald, running without it until it comes";
  Say("%s: %s%s%s", address, what, text[0] != '\0' ? ": " : "", text);
}

void SayIfNoWeight(const char* address) {
  if (settings.no_weight[0] == '\0' || said_no_weight.exchange(true)) return;
  Say("%s: RINGDEAL_WEIGHT must be a number from 1 to %u, not \"%s\": 1 is taken", address,
      kMostWeight, settings.no_weight);
}

void NoteAnswer(Answer answer) {
  if (answer == Answer::kLate) out_of_patience.store(true);
}

bool IsStream(int number) {
  int type = 0;
  socklen_t length = sizeof(type);
  return real::getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

// Blocking accept ends after the receive time-out that the program set on its listener.
void CopyReceiveTimeout(Listener* listener) {
  timeval timeout = {};
  socklen_t length = sizeof(timeout);
  if (!listener->options.Get(SOL_SOCKET, SO_RCVTIMEO, &timeout, &length)) {
    real::getsockopt(listener->member.listener(), SOL_SOCKET, SO_RCVTIMEO, &timeout, &length);
  }
  listener->member.SetReceiveTimeout(timeout);
}

void AfterJoining(Listener* listener, const client::JoinRequest& request) {
  const Page* page = listener->member.page();
  if (page == nullptr) return;
  // Inherited over exec, and the program has not said what it wants: it goes by the flag that it
  // believes to be there, and ringdeald has set since.
  if (!listener->flag_known.load()) {
    listener->nonblocking.store((page->header.listener_flags & O_NONBLOCK) != 0);
  }
  if (listener->nonblocking.load() == request.words.one_at_a_time) {
    listener->member.SetOneAtATime(!listener->nonblocking.load());
  }
}

// What names this process as a worker of the listener.
client::JoinRequest RequestFor(const Listener* listener) {
  client::JoinRequest request;
  request.control_path = settings.control;
  request.words.address = listener->address;
  request.words.cpus = settings.cpus[0] != '\0' ? settings.cpus : nullptr;
  request.words.weight = settings.weight;
  request.words.forked = listener->made_by.load() != OwnPid();
  request.words.direct = true;
  request.words.passes_listener = listener->member.listener() >= 0;
  // Without the socket it is asked for by name; adopted ones have their address for a name.
  if (!request.words.passes_listener) request.words.listener = listener->address;
  // Such a process is rung as soon as it has registered, to show that it accepts. An answer that
  // comes late may come after the bell was taken out again.
  request.answer_wakes =
      request.words.forked && listener->nonblocking.load() && !listener->member.promoted();
  return request;
}

void Join(Listener* listener, int number, Interest interest) {
  client::Member& member = listener->member;
  // One that was closed does not listen any more, and is as good to show who may have the next.
  const bool was_closed = IsStream(number) && listener->listening.load();
  if (member.listener() < 0 && (IsListening(number) || was_closed)) {
    member.SetListener(UniqueFd(static_cast<int>(real::fcntl(number, F_DUPFD_CLOEXEC, 3))));
  }
  client::JoinRequest request = RequestFor(listener);
  request.words.observer = interest == Interest::kWatch;
  request.words.one_at_a_time = !listener->nonblocking.load();
  request.patience_ms = Patience();
  request.direct_if_absent = !settings.require;
  request.direct_at_least = listener->IsShared();
  request.direct_if_nonblocking = !listener->nonblocking.load();
  request.install = &listeners::Install;
  request.context = listener;
  CopyReceiveTimeout(listener);
  SayIfNoWeight(listener->address);
  char text[256] = "";
  const Answer answer = member.Join(request, text, sizeof(text));
  NoteAnswer(answer);
  SayWhyNot(listener->address, answer, text);
  AfterJoining(listener, request);
}

// What is left when joining was refused: as if there were no shim, or an error.
bool StayOut(Listener* listener) {
  if (settings.require) {
    listener->refused.store(true);
    return false;
  }
  listeners::LeaveAlone(listener);
  return false;
}

// Who was removed from an epoll set, or listens for nobody, may go on by another way. Accepting
// what an epoll set still brings is none.
void GoOn(Listener* listener, Interest interest) {
  if (!listener->paused.load(std::memory_order_relaxed)) return;
  const bool only_empties = interest == Interest::kAccept && listener->nonblocking.load() &&
                            listener->additions.load() > 0;
  if (!only_empties && listener->paused.exchange(false)) listener->ShowPause();
}

bool IsEpollSet(int number) {
  epoll_event event;
  return kernel::Call(SYS_epoll_pwait, number, kernel::AsLong(&event), 1, 0, 0, 0) >= 0;
}

// The program's epoll sets watch the ready set under its own numbers: what is under one of those is
// what it had. Returns that number, -1 if none is left.
int Regain(Listener* listener) {
  client::Member& member = listener->member;
  member.Abandon();
  for (int number = 0; number < listeners::EndOfNumbers(); ++number) {
    if (listeners::Of(table::Get(number)) != listener || !IsEpollSet(number)) continue;
    if (member.ready_set() < 0) {
      const auto copy = real::fcntl(number, F_DUPFD_CLOEXEC, 3);
      member.SetReadySet(UniqueFd(static_cast<int>(copy)));
    }
    return number;
  }
  return -1;
}

// An epoll set watches the socket that is about to be replaced, and no hook saw it added: by
// io_uring, or by a system call without the C library. It would never hear of what is handed over.
bool IsWatchedUnseen(const Listener* listener) {
  return listener->additions.load() == 0 && !listener->member.inherited() &&
         AnyEpollSetWatches(listener);
}

bool IsAskedAbout(const sockaddr* address, socklen_t length, SocketAddress* copy, char* text) {
  if (!settings.enabled || address == nullptr || length > sizeof(copy->storage)) return false;
  if (length < sizeof(sa_family_t)) return false;
  std::memcpy(&copy->storage, address, length);
  copy->length = length;
  return FormatAddress(*copy, text, kMaxAddressText) && IsMeant(text);
}

// Port 0 and the autobind of AF_UNIX: the kernel chooses, so nobody can own it.
bool KernelChooses(const SocketAddress& address) {
  if (address.family() == AF_UNIX) return address.length <= sizeof(sa_family_t);
  return reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port == 0;
}

bool TakeOwned(int number, int family, const char* text, client::BindResult* result) {
  if (!listeners::HasRoom()) {
    if (!said_no_room.exchange(true)) {
      Say("%s: no more than %d listeners in one process", text, listeners::kMax);
    }
    return false;
  }
  const int flags = real::fcntl(number, F_GETFL);
  const int close_on_exec = real::fcntl(number, F_GETFD);
  OptionRecord options;
  options.SetWhereDifferent(number, result->listener.get());
  if (real::dup3(result->listener.get(), number,
                 (close_on_exec & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0) < 0) {
    return false;
  }
  Listener* listener = listeners::Track(number);
  if (listener == nullptr) return true;
  SocketAddress own;
  listener->maps_ipv4.store(family == AF_INET6 && LocalAddressOf(number, &own) &&
                            own.family() == AF_INET);
  listener->options.CopyFrom(options);
  listener->owned.store(true);
  listener->flag_known.store(true);
  listener->nonblocking.store((flags & O_NONBLOCK) != 0);
  listener->made_by.store(OwnPid());
  listener->member.SetDoor(std::move(result->door));
  return true;
}

void TrackOwnSocket(int number, UniqueFd door) {
  Listener* listener = listeners::Track(number);
  if (listener == nullptr) return;
  listener->made_by.store(OwnPid());
  listener->flag_known.store(true);
  if (door) listener->member.SetDoor(std::move(door));
}

// No accepted connection is bound or listens: it was closed where no hook saw it.
void ForgetConnection(int number) {
  if (table::Get(number).kind == Kind::kAccepted) connections::NumberIsNew(number);
}

bool RequiredButMissing(Answer answer, const char* text) {
  if (!settings.require || answer != Answer::kAbsent) return false;
  SayWhyNot(text, answer, "RINGDEAL_REQUIRE is set");
  errno = ECONNREFUSED;
  return true;
}

// One question about an address; without patience left it counts as answered late.
client::BindResult AskWhilePatient(const char* text) {
  SayIfNoWeight(text);
  client::BindResult asked;
  asked.answer = Answer::kLate;
  if (Patience() > 0) asked = client::AskToBind(settings.control, text, Patience());
  NoteAnswer(asked.answer);
  return asked;
}

// A socket that listens and is no slot yet: its bind was not asked about, or refused, or it was
// bound elsewhere. One question, for a door.
int ListenWithoutDoor(int number, int backlog) {
  SocketAddress address;
  char text[kMaxAddressText] = "";
  if (!IsStream(number) || !LocalAddressOf(number, &address) ||
      !IsAskedAbout(address.get(), address.length, &address, text)) {
    table::Replace(number, Entry{}, Entry{Kind::kNative, 0, 0});
    return real::listen(number, backlog);
  }
  const int saved_errno = errno;
  client::BindResult asked = AskWhilePatient(text);
  if (RequiredButMissing(asked.answer, text)) return -1;
  errno = saved_errno;
  const int result = real::listen(number, backlog);
  if (result != 0) return result;
  SayWhyNot(text, asked.answer, asked.text);
  // Refused: as if there were no shim. Late, or nobody is there: the first interest looks again.
  if (asked.door || asked.answer == Answer::kLate || asked.answer == Answer::kAbsent) {
    TrackOwnSocket(number, std::move(asked.door));
  } else {
    table::Replace(number, Entry{}, Entry{Kind::kNative, 0, 0});
  }
  return result;
}

}  // namespace

void LookAfter(Listener* listener) {
  if (listener->member.SettledForm() == Form::kApart || !listener->member.HasLost()) return;
  const int number = Regain(listener);
  if (number >= 0) ShowInterest(listener, number, Interest::kWatch);
}

bool ShowInterest(Listener* listener, int number, Interest interest) {
  NoticeFork();
  client::Member& member = listener->member;
  if (member.SettledForm() != Form::kApart && member.HasLost()) Regain(listener);
  Form form = member.SettledForm();
  if (form == Form::kApart && (!listeners::Listens(listener, number) || listener->shut.load())) {
    return false;
  }
  const bool joins = form == Form::kApart && !listener->refused.load();
  if (joins && interest == Interest::kAccept && IsWatchedUnseen(listener)) {
    if (!said_unseen.exchange(true)) {
      Say("%s: watched in a way that ringdeal cannot follow, running without it",
          listener->address);
    }
    listeners::LeaveAlone(listener);
    return false;
  }
  if (joins && member.BeginJoin()) {
    const int saved_errno = errno;
    // Accepting on what it has not watched itself: its parent's epoll set does that for it.
    if (interest == Interest::kAccept && member.inherited() && listener->nonblocking.load() &&
        listener->watched_before_fork.load()) {
      member.JoinFamily();
    } else {
      listener->watched_before_fork.store(false);
      Join(listener, number, interest);
    }
    errno = saved_errno;
  }
  form = member.SettledForm();
  if (form == Form::kApart) return listener->refused.load() ? false : StayOut(listener);
  if (interest == Interest::kAccept) member.Promote();
  GoOn(listener, interest);
  return true;
}

void LookForRingdeald(Listener* listener) {
  if (listener->member.next_look() == 0) return;
  listener->member.LookForRingdeald(RequestFor(listener));
  if (listener->paused.load() || listener->full.load()) listener->ShowPause();
}

int Bind(int number, const sockaddr* address, socklen_t length) {
  SocketAddress copy;
  char text[kMaxAddressText] = "";
  ForgetConnection(number);
  if (table::Get(number).kind != Kind::kUnknown || !IsAskedAbout(address, length, &copy, text) ||
      KernelChooses(copy) || !IsStream(number)) {
    return real::bind(number, address, length);
  }
  const int saved_errno = errno;
  client::BindResult asked = AskWhilePatient(text);
  if (RequiredButMissing(asked.answer, text)) return -1;
  errno = saved_errno;
  if (asked.listener && TakeOwned(number, copy.family(), text, &asked)) return 0;
  const int result = real::bind(number, address, length);
  if (result == 0 && asked.door) TrackOwnSocket(number, std::move(asked.door));
  if (result == 0 || errno != EADDRINUSE || asked.answer != Answer::kLate) return result;
  // It may be ringdeald that has the address: patience or not, only an answer can tell.
  asked = client::AskToBind(settings.control, text, WholePatience());
  errno = saved_errno;
  if (asked.listener && TakeOwned(number, copy.family(), text, &asked)) return 0;
  errno = EADDRINUSE;
  return result;
}

int Listen(int number, int backlog) {
  ForgetConnection(number);
  Entry entry = table::Get(number);
  if (entry.kind == Kind::kUnknown && settings.enabled) return ListenWithoutDoor(number, backlog);
  Listener* listener = listeners::Of(entry);
  if (listener == nullptr) return real::listen(number, backlog);
  NoticeFork();
  if (!listener->owned.load() && listener->member.ready_set() < 0) {
    const int result = real::listen(number, backlog);
    if (result != 0) return result;
    // Listening again is no making: asyncio does it in each child.
    if (!listener->listening.exchange(true)) listener->made_by.store(OwnPid());
    // From here on the flag is the program's own, whatever ringdeald does to the socket.
    if (!listener->flag_known.exchange(true)) {
      const auto flags = StatusFlagsWanted(number);
      listener->nonblocking.store(flags && (*flags & O_NONBLOCK) != 0);
    }
    return result;
  }
  const bool was_shut = listener->shut.exchange(false);
  listener->paused.store(backlog == 0);
  listener->ShowPause();
  // The program's epoll sets watch it as before, so nothing else would show interest.
  if (was_shut && listener->additions.load() > 0) ShowInterest(listener, number, Interest::kWatch);
  return 0;
}

int ShutListener(Listener* listener) {
  listener->shut.store(true);
  listener->member.Leave(false);
  return 0;
}

}  // namespace ringdeal::shim
