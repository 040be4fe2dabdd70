#include <fcntl.h>

#include <cerrno>

#include "client-shim/preload/listener.h"
#include "client-shim/preload/process.h"
#include "client-shim/preload/real_calls.h"
#include "client-shim/preload/settings.h"
#include "protocol/nonblocking_listener.h"
#include "protocol/socket_identity.h"

namespace ringdeal::shim::listeners {
namespace {

// All of the shim's state is there before its constructor, which may come before those of other
// static objects.
constinit Listener places[kMax] = {};
constinit std::atomic<bool> any{false};
constinit std::atomic<bool> any_full{false};
constinit std::atomic<int> end_of_numbers{0};
constinit std::atomic<uint16_t> generation{0};

void RaiseEnd(int number) {
  int seen = end_of_numbers.load(std::memory_order_relaxed);
  while (number >= seen && !end_of_numbers.compare_exchange_weak(seen, number + 1)) {
  }
}

void MakeSlot(int number, Listener* listener) {
  const Entry slot = {Kind::kSlot, IndexOf(listener), generation.fetch_add(1)};
  listener->numbers.fetch_add(1);
  any.store(true, std::memory_order_relaxed);
  RaiseEnd(number);
  NumberGone(table::Exchange(number, slot));
}

// A place starts as new; nothing of its former listener may show.
void Clear(Listener* place) {
  place->options.Clear();
  place->address[0] = '\0';
  for (auto* count : {&place->numbers, &place->additions, &place->made_by}) count->store(0);
  for (auto* flag : {&place->listening, &place->owned, &place->maps_ipv4, &place->nonblocking,
                     &place->flag_known, &place->shut, &place->paused, &place->full,
                     &place->refused, &place->watched_before_fork}) {
    flag->store(false);
  }
}

// Another thread may have taken another place for the same socket, if one became free in between.
// Each looks after it has taken its own, so at least one sees both; the higher place gives way.
Listener* LowestWith(uint64_t cookie, Listener* taken) {
  for (Listener* place = places; place != taken; ++place) {
    if (place->cookie.load() != cookie) continue;
    taken->cookie.store(0);
    return place;
  }
  return taken;
}

// Who finds a cookie finds a place that is clear: it was left so.
Listener* FindOrTake(uint64_t cookie) {
  for (Listener& place : places) {
    if (place.cookie.load() == cookie) return &place;
  }
  for (Listener& place : places) {
    uint64_t expected = 0;
    if (place.cookie.compare_exchange_strong(expected, cookie)) return LowestWith(cookie, &place);
    if (expected == cookie) return &place;  // another thread met the socket at the same time
  }
  return nullptr;
}

void SwapOne(int number, int ready_set) {
  const int flags = real::fcntl(number, F_GETFD);
  real::dup3(ready_set, number, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
}

}  // namespace

Listener* Of(Entry entry) { return entry.kind == Kind::kSlot ? &places[entry.index] : nullptr; }
uint8_t IndexOf(const Listener* listener) { return static_cast<uint8_t>(listener - places); }
Listener* At(int index) { return &places[index]; }
bool Any() { return any.load(std::memory_order_relaxed); }
int EndOfNumbers() { return end_of_numbers.load(std::memory_order_relaxed); }

bool HasRoom() {
  for (const Listener& place : places) {
    if (place.cookie.load() == 0) return true;
  }
  return false;
}

Listener* Track(int number) {
  const int saved_errno = errno;
  const auto identity = IdentityOf(number);
  errno = saved_errno;
  if (!identity || !table::Follows(number)) return nullptr;
  Listener* listener = FindOrTake(identity->cookie);
  if (listener == nullptr) return nullptr;
  const bool is_new = listener->numbers.load() == 0;
  MakeSlot(number, listener);
  if (is_new) {
    SocketAddress address;
    if (LocalAddressOf(number, &address)) {
      FormatAddress(address, listener->address, sizeof(listener->address));
    }
    if (!IsMeant(listener->address)) {
      LeaveAlone(listener);
      return nullptr;
    }
    listener->listening.store(IsListening(number));
    const auto flags = StatusFlagsWanted(number);
    listener->nonblocking.store(flags && (*flags & O_NONBLOCK) != 0);
    errno = saved_errno;
  } else if (listener->member.SettledForm() != client::Form::kApart) {
    // It came by a way that no hook saw, so no epoll set of ours watches it yet.
    SwapOne(number, listener->member.ready_set());
  }
  return listener;
}

Entry Recognise(int number) {
  const int saved_errno = errno;
  int listening = 0;
  socklen_t length = sizeof(listening);
  Entry result;
  if (real::getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) == 0) {
    const Entry native = {Kind::kNative, 0, 0};
    if (listening == 0 || Track(number) == nullptr) table::Replace(number, Entry{}, native);
    result = table::Get(number);
  }
  errno = saved_errno;
  return result;
}

void Duplicated(int from, int to) {
  Listener* listener = Of(table::Get(from));
  if (listener != nullptr) MakeSlot(to, listener);
}

void NumberGone(Entry entry) {
  Listener* listener = Of(entry);
  if (listener == nullptr || listener->numbers.fetch_sub(1) != 1) return;
  listener->member.Leave(true);
  Clear(listener);
  listener->cookie.store(0);
}

bool Listens(Listener* listener, int number) {
  if (listener->listening.load()) return true;
  const int saved_errno = errno;
  if (IsListening(number)) listener->listening.store(true);
  errno = saved_errno;
  return listener->listening.load();
}

void LeaveAlone(Listener* listener) {
  for (int number = 0; number < EndOfNumbers(); ++number) {
    const Entry entry = table::Get(number);
    if (Of(entry) != listener) continue;
    if (table::Replace(number, entry, Entry{Kind::kNative, 0, 0})) NumberGone(entry);
  }
}

void Install(void* listener, int ready_set) {
  for (int number = 0; number < EndOfNumbers(); ++number) {
    if (Of(table::Get(number)) == listener) SwapOne(number, ready_set);
  }
}

void PokeFor(const Page* page) {
  for (Listener& place : places) {
    if (place.member.page() == page) return place.member.Poke();
  }
}

void NoteFull(Listener* listener) {
  const int saved_errno = errno;
  if (!listener->full.exchange(true)) listener->ShowPause();
  any_full.store(true);
  errno = saved_errno;
}

void NoteRoom() {
  if (!any_full.load(std::memory_order_relaxed) || !any_full.exchange(false)) return;
  const int saved_errno = errno;
  for (Listener& place : places) {
    if (place.full.exchange(false)) place.ShowPause();
  }
  errno = saved_errno;
}

void LookForRoom() {
  if (!any_full.load(std::memory_order_relaxed)) return;
  const int saved_errno = errno;
  for (Listener& place : places) {
    if (!place.full.load()) continue;
    const UniqueFd free_number(sys::Control(place.member.ready_set(), F_DUPFD_CLOEXEC, 0));
    if (free_number) NoteRoom();
    break;
  }
  errno = saved_errno;
}

void AfterFork() {
  for (Listener& place : places) {
    if (place.cookie.load() != 0) place.member.AfterFork();
    if (place.additions.exchange(0) > 0) place.watched_before_fork.store(true);
  }
}

}  // namespace ringdeal::shim::listeners
