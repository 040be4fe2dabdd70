#include <fcntl.h>

#include <cerrno>

#include "client-shim/client/private_descriptor.h"
#include "client-shim/preload/connections.h"
#include "client-shim/preload/listener.h"
#include "client-shim/preload/private_descriptors.h"
#include "client-shim/preload/process.h"
#include "client-shim/preload/slots.h"

namespace ringdeal::shim {
namespace {

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

// `to` is a new duplicate of `from`.
void NoteDuplicate(int from, int to) {
  const bool concerns_us =
      table::Get(from).kind != Kind::kUnknown || table::Get(to).kind != Kind::kUnknown;
  if (!concerns_us || SharesOurMemory()) return;
  connections::NumberIsNew(to);
  connections::Duplicated(from, to);
  listeners::Duplicated(from, to);
}

template <typename Call>
int Over(int from, int to, Call call) {
  const Entry target = table::Get(to);
  const bool concerns_us = target.kind != Kind::kUnknown || table::Get(from).kind != Kind::kUnknown;
  if (!concerns_us || from == to || SharesOurMemory()) return call();
  if (target.kind == Kind::kPrivate) MoveAway(to);
  const Entry old = table::Exchange(to, Entry{});
  const int result = call();
  if (result < 0) {
    table::Replace(to, Entry{}, old);
    return result;
  }
  EntryGone(old);
  NoteDuplicate(from, to);
  return result;
}

int CloseUnfollowed(int number) {
  const int result = real::close(number);
  listeners::NoteRoom();
  return result;
}

// Takes what is followed out of the table for the length of a call that closes the stream's number.
template <typename Call>
auto ClosingStream(FILE* stream, Call call) {
  if (table::end.load(std::memory_order_relaxed) == 0) return call();
  const int saved_errno = errno;
  const int number = fileno(stream);  // -1: it has none
  errno = saved_errno;
  const Kind kind = table::Get(number).kind;
  const bool followed = kind != Kind::kUnknown && kind != Kind::kPrivate && !SharesOurMemory();
  const Entry old = followed ? table::Exchange(number, Entry{}) : Entry{};
  const auto result = call();
  EntryGone(old);
  listeners::NoteRoom();
  return result;
}

}  // namespace

void EntryGone(Entry entry) {
  const int saved_errno = errno;
  if (entry.kind == Kind::kSlot) listeners::NumberGone(entry);
  if (entry.kind == Kind::kAccepted) connections::Closed(entry);
  if (entry.kind == Kind::kEpoll) EpollSetGone(entry.index);
  errno = saved_errno;
}

int Close(int number) {
  const Entry entry = table::Get(number);
  if (entry.kind == Kind::kUnknown) return CloseUnfollowed(number);
  // Not even in a vfork child: it gives the listener behind a slot to the image that it execs.
  if (entry.kind == Kind::kPrivate && client::IsKept(number)) {
    errno = EBADF;
    return -1;
  }
  if (entry.kind != Kind::kNative && SharesOurMemory()) return real::close(number);
  // Out of the table first: another thread may be given the number as soon as it is closed. Who
  // waits in accept is woken last, so that it finds the number closed.
  const Entry old = table::Exchange(number, Entry{});
  const int result = CloseUnfollowed(number);
  EntryGone(old);
  return result;
}

int CloseRange(unsigned first, unsigned last, int flags) {
  if ((flags & CLOSE_RANGE_CLOEXEC) != 0 || first > last) {
    return real::close_range(first, last, flags);
  }
  // In pieces around what is ours; everything followed is closed by itself.
  const auto end = static_cast<unsigned>(table::end.load());
  unsigned from = first;
  for (unsigned number = first; number <= last && number < end; ++number) {
    if (table::Get(static_cast<int>(number)).kind == Kind::kUnknown) continue;
    if (number > from && real::close_range(from, number - 1, flags) != 0) return -1;
    Close(static_cast<int>(number));
    from = number + 1;
  }
  const int result = from > last ? 0 : real::close_range(from, last, flags);
  listeners::NoteRoom();
  return result;
}

int CloseStream(FILE* stream) {
  return ClosingStream(stream, [=] { return real::fclose(stream); });
}

FILE* ReopenStream(const char* path, const char* mode, FILE* stream,
                   decltype(real::freopen) reopen) {
  return ClosingStream(stream, [=] { return reopen(path, mode, stream); });
}

int Duplicate(int number) {
  const int result = real::dup(number);
  if (result >= 0) NoteDuplicate(number, result);
  return result;
}

int DuplicateTo(int from, int to, int flags) {
  return Over(from, to, [=] { return real::dup3(from, to, flags); });
}

int DuplicateOver(int from, int to) {
  return Over(from, to, [=] { return real::dup2(from, to); });
}

int Control(int number, int command, long argument) {
  const Entry entry = table::Get(number);
  if (entry.kind == Kind::kSlot && command == F_SETFL) {
    return SetNonBlocking(number, (argument & O_NONBLOCK) != 0);
  }
  if (entry.kind == Kind::kSlot && command == F_GETFL) {
    const int flags = real::fcntl(RealNumber(number), F_GETFL);
    const bool nonblocking = listeners::Of(entry)->nonblocking.load();
    return flags < 0 ? flags : (flags & ~O_NONBLOCK) | (nonblocking ? O_NONBLOCK : 0);
  }
  const int result = real::fcntl(number, command, argument);
  const bool duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  if (duplicates && result >= 0) NoteDuplicate(number, result);
  return result;
}

}  // namespace ringdeal::shim
