#include <cerrno>

#include "client-shim/client/member_use.h"
#include "client-shim/client/page_writer.h"
#include "client-shim/preload/connections.h"
#include "client-shim/preload/joining.h"
#include "client-shim/preload/process.h"
#include "client-shim/preload/settings.h"
#include "client-shim/preload/slices.h"
#include "client-shim/preload/slots.h"

namespace ringdeal::shim {
namespace {

// One attempt; the connection, if there is one, made what accept would have returned.
int AcceptOne(Listener* listener, sockaddr* address, socklen_t* length, int flags) {
  LookForRingdeald(listener);
  const socklen_t room = length != nullptr ? *length : 0;
  Page* counted = nullptr;
  const int number = listener->member.Accept(address, length, flags, &counted);
  if (number < 0 && errno == EMFILE) listeners::NoteFull(listener);
  if (number < 0) return -1;
  listeners::NoteRoom();
  connections::Accepted(number, counted);
  listener->options.ApplyTo(number);
  if (listener->maps_ipv4.load() && address != nullptr && length != nullptr) {
    MapIpv4(address, room, length);
  }
  return number;
}

// The slot may have gone while the thread waited. Then the kernel answers for what is there now.
bool IsStill(int number, Entry entry) { return table::Get(number) == entry; }

// Blocks as Member::Wait does, and without ringdeald until the deadline (0: none), looking for it.
int WaitForConnection(Listener* listener, uint64_t deadline) {
  client::Member& member = listener->member;
  if (member.SettledForm() != client::Form::kDirect) return member.Wait();
  const client::Member::BlockingUse use(&member);
  const uint64_t now = client::Now();
  const uint64_t left = deadline > now ? deadline - now : 0;
  Slices slices(1u << listeners::IndexOf(listener),
                deadline == 0 ? kNoEnd : static_cast<int64_t>(left), nullptr);
  pollfd slot = {member.ready_set(), POLLIN, 0};
  const PollSlice poll = {&slot, 1};
  int ready = 0;
  do {
    const timespec* time = slices.Next();
    if (member.SettledForm() != client::Form::kDirect || member.HasLost()) return 0;
    ready = poll(time, slices.mask());
  } while (slices.GoOn(ready));
  if (ready == 0) errno = EAGAIN;
  return ready > 0 ? 0 : -1;
}

int AcceptBlocking(Listener* listener, int number, Entry entry, sockaddr* address,
                   socklen_t* length, int flags, RealAccept real_accept) {
  const int wait_ms = listener->member.wait_ms();
  const uint64_t deadline =
      wait_ms > 0 ? client::Now() + static_cast<uint64_t>(wait_ms) * 1'000'000 : 0;
  // Connections come only to a thread that waits, so waiting comes first.
  bool wait_first = listener->member.page() != nullptr;
  while (true) {
    listeners::LookForRoom();
    if (wait_first && WaitForConnection(listener, deadline) != 0) {
      const int error = errno;
      if (!IsStill(number, entry)) return real_accept(number, address, length, flags);
      errno = error;
      return -1;
    }
    wait_first = true;
    if (!IsStill(number, entry)) return real_accept(number, address, length, flags);
    if (listener->shut.load()) {
      errno = EINVAL;
      return -1;
    }
    if (!ShowInterest(listener, number, Interest::kAccept)) {
      return real_accept(number, address, length, flags);
    }
    const int connection = AcceptOne(listener, address, length, flags);
    if (connection >= 0 || errno != EAGAIN || listener->nonblocking.load()) return connection;
  }
}

// What the kernel refuses whatever the descriptor is; here before a connection is lost to it.
bool IsValidRequest(const sockaddr* address, const socklen_t* length, int flags) {
  const bool room = address == nullptr || length == nullptr || static_cast<int>(*length) >= 0;
  return room && (flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == 0;
}

}  // namespace

int Accept(int number, sockaddr* address, socklen_t* length, int flags, RealAccept real_accept) {
  Entry entry = table::Get(number);
  if (entry.kind == Kind::kUnknown && settings.enabled) entry = listeners::Recognise(number);
  Listener* listener = listeners::Of(entry);
  if (listener == nullptr) {
    const int connection = real_accept(number, address, length, flags);
    if (connection >= 0) connections::NumberIsNew(connection);
    return connection;
  }
  const int saved_errno = errno;
  if (listener->shut.load() || !IsValidRequest(address, length, flags)) {
    errno = EINVAL;
    return -1;
  }
  if (!ShowInterest(listener, number, Interest::kAccept)) {
    if (!listener->refused.load()) return real_accept(number, address, length, flags);
    errno = ECONNREFUSED;
    return -1;
  }
  const int connection =
      listener->nonblocking.load()
          ? AcceptOne(listener, address, length, flags)
          : AcceptBlocking(listener, number, entry, address, length, flags, real_accept);
  if (connection >= 0) errno = saved_errno;
  return connection;
}

}  // namespace ringdeal::shim
