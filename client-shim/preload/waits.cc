#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "client-shim/client/page_writer.h"
#include "client-shim/preload/joining.h"
#include "client-shim/preload/listener.h"
#include "client-shim/preload/process.h"
#include "client-shim/preload/settings.h"
#include "client-shim/preload/slots.h"

namespace ringdeal::shim {
namespace {

static_assert(listeners::kMax <= 32, "a mask has 32 bits");

// Which listeners an epoll set watches, one bit each.
struct Mark {
  std::atomic<bool> used{false};
  std::atomic<unsigned> watched{0};
  std::atomic<unsigned> removed{0};  // since the last wait on it
};

constexpr int kMarks = 128;  // further epoll sets work, and show no passes
constinit Mark marks[kMarks] = {};

unsigned BitOf(const Listener* listener) { return 1u << listeners::IndexOf(listener); }

Mark* MarkOf(int set) {
  const Entry entry = table::Get(set);
  return entry.kind == Kind::kEpoll ? &marks[entry.index] : nullptr;
}

Mark* MakeMark(int set) {
  Mark* known = MarkOf(set);
  if (known != nullptr) return known;
  for (int i = 0; i < kMarks; ++i) {
    if (marks[i].used.exchange(true)) continue;
    marks[i].watched.store(0);
    marks[i].removed.store(0);
    if (table::Replace(set, Entry{}, Entry{Kind::kEpoll, static_cast<uint8_t>(i), 0})) {
      return &marks[i];
    }
    marks[i].used.store(false);
    return MarkOf(set);
  }
  return nullptr;
}

void NoteAddition(int set, Listener* listener) {
  Mark* mark = MakeMark(set);
  if (mark != nullptr) {
    mark->watched.fetch_or(BitOf(listener));
    mark->removed.fetch_and(~BitOf(listener));
  }
  listener->additions.fetch_add(1);
  const bool was_full = listener->full.exchange(false);
  if (listener->paused.exchange(false) || was_full) listener->ShowPause();
}

void NoteRemoval(int set, Listener* listener) {
  Mark* mark = MarkOf(set);
  if (mark != nullptr) {
    mark->watched.fetch_and(~BitOf(listener));
    mark->removed.fetch_or(BitOf(listener));
  }
  if (listener->additions.load() > 0) listener->additions.fetch_sub(1);
}

// A removal is a pause when the program goes to wait without having added the slot again.
void PauseWhatWasRemoved(Mark* mark) {
  unsigned removed = mark->removed.load(std::memory_order_relaxed);
  if (removed == 0) return;
  removed = mark->removed.exchange(0);
  for (int i = 0; i < listeners::kMax; ++i) {
    if ((removed & 1u << i) == 0) continue;
    Listener* listener = listeners::At(i);
    if (listener->additions.load() > 0 || listener->paused.exchange(true)) continue;
    listener->ShowPause();
  }
}

int Add(int set, int number, epoll_event* event, Listener* listener) {
  if (!listeners::Listens(listener, number)) {
    // Watched before it listens: what is watched cannot be replaced any more.
    listeners::LeaveAlone(listener);
    return real::epoll_ctl(set, EPOLL_CTL_ADD, number, event);
  }
  if (!ShowInterest(listener, number, Interest::kWatch) || event == nullptr) {
    return real::epoll_ctl(set, EPOLL_CTL_ADD, number, event);
  }
  epoll_event allowed = *event;
  allowed.events &= ~static_cast<uint32_t>(EPOLLEXCLUSIVE);  // refused on an epoll descriptor
  const int result = real::epoll_ctl(set, EPOLL_CTL_ADD, number, &allowed);
  if (result == 0) NoteAddition(set, listener);
  return result;
}

}  // namespace

int EpollControl(int set, int operation, int number, epoll_event* event) {
  Entry entry = table::Get(number);
  if (operation == EPOLL_CTL_ADD && entry.kind == Kind::kUnknown && settings.enabled) {
    entry = listeners::Recognise(number);
  }
  Listener* listener = listeners::Of(entry);
  if (listener == nullptr) return real::epoll_ctl(set, operation, number, event);
  if (operation == EPOLL_CTL_ADD) return Add(set, number, event, listener);
  const int result = real::epoll_ctl(set, operation, number, event);
  if (result == 0 && operation == EPOLL_CTL_DEL) NoteRemoval(set, listener);
  return result;
}

void EpollSetGone(int index) {
  Mark& mark = marks[index];
  const unsigned watched = mark.watched.exchange(0);
  for (int i = 0; i < listeners::kMax; ++i) {
    Listener* listener = listeners::At(i);
    if ((watched & 1u << i) != 0 && listener->additions.load() > 0) {
      listener->additions.fetch_sub(1);
    }
  }
  mark.used.store(false);
}

unsigned WatchedBySet(int set) {
  if (!listeners::Any()) return 0;
  Mark* mark = MarkOf(set);
  if (mark == nullptr) return 0;
  NoticeFork();
  PauseWhatWasRemoved(mark);
  return mark->watched.load(std::memory_order_relaxed);
}

unsigned WatchedByPoll(const pollfd* descriptors, nfds_t count) {
  unsigned watched = 0;
  if (!listeners::Any()) return 0;
  for (nfds_t i = 0; i < count; ++i) {
    Listener* listener = listeners::Of(table::Get(descriptors[i].fd));
    if (listener == nullptr || (descriptors[i].events & (POLLIN | POLLRDNORM)) == 0) continue;
    if (ShowInterest(listener, descriptors[i].fd, Interest::kWatch)) watched |= BitOf(listener);
  }
  return watched;
}

unsigned WatchedBySelect(int count, const fd_set* readable) {
  unsigned watched = 0;
  if (!listeners::Any() || readable == nullptr) return 0;
  const int end = count < listeners::EndOfNumbers() ? count : listeners::EndOfNumbers();
  for (int number = 0; number < end; ++number) {
    Listener* listener = listeners::Of(table::Get(number));
    // Not FD_ISSET: fortified, it refuses the larger sets that some programs allocate themselves.
    const long word = readable->fds_bits[number / __NFDBITS];
    if (listener == nullptr || (word >> (number % __NFDBITS) & 1) == 0) continue;
    if (ShowInterest(listener, number, Interest::kWatch)) watched |= BitOf(listener);
  }
  return watched;
}

void NoticeEnd(unsigned watched) {
  for (int i = 0; watched != 0; ++i, watched >>= 1) {
    if ((watched & 1) != 0) listeners::At(i)->member.NoticeEnd();
  }
}

WaitScope::WaitScope(unsigned watched) : pid_(OwnPid()) {
  listeners::LookForRoom();
  Enter(watched);
}

bool WaitScope::Shows(const Page* page) const {
  return std::find(pages_, pages_ + count_, page) != pages_ + count_;
}

void WaitScope::Enter(unsigned watched) {
  for (int i = 0; watched != 0 && count_ < kPages; ++i, watched >>= 1) {
    if ((watched & 1) == 0) continue;
    LookAfter(listeners::At(i));
    client::Member& member = listeners::At(i)->member;
    if (Shows(member.page())) continue;
    Page* page = member.EnterWait();
    if (page != nullptr) pages_[count_++] = page;
  }
}

void WaitScope::Leave(void* context) {
  const auto* scope = static_cast<const WaitScope*>(context);
  const int saved_errno = errno;
  // A signal handler may have forked: in the child they are the parent's.
  NoticeFork();
  if (OwnPid() == scope->pid_) {
    for (int i = 0; i < scope->count_; ++i) client::LeaveWait(scope->pages_[i]);
  }
  errno = saved_errno;
}

}  // namespace ringdeal::shim
