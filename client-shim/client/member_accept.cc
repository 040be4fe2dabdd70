// Taking connections: the half of Member that runs for each of them.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "client-shim/client/accept_direct.h"
#include "client-shim/client/failpoint.h"
#include "client-shim/client/member.h"
#include "client-shim/client/member_use.h"
#include "client-shim/client/page_writer.h"
#include "client-shim/client/ready_set.h"
#include "protocol/socket_identity.h"
#include "protocol/system_calls.h"

namespace ringdeal::client {
namespace {

// So many numbers below the limit, or so long after the last look, a take could meet the limit
// unawares: other threads open files meanwhile.
constexpr uint64_t kNumbersToSpare = 1024;
constexpr uint64_t kLookIsOld = 10'000'000;  // ns
constexpr int kNumbersAtOnce = 128;          // few, for the stack of a signal handler
constexpr int kLooks = 4;

// True if half of the numbers right below `limit` are free. A low number that accept was given says
// nothing of them: it was free because somebody closed it.
bool HasRoomBelow(uint64_t limit) {
  int free_numbers = 0;
  auto number = static_cast<int>(limit < INT32_MAX ? limit : INT32_MAX);
  for (int look = 0; look < kLooks; ++look) {
    pollfd watched[kNumbersAtOnce];
    for (pollfd& one : watched) one = {--number, 0, 0};
    sys::Poll(watched, kNumbersAtOnce, 0);
    for (const pollfd& one : watched) free_numbers += (one.revents & POLLNVAL) != 0 ? 1 : 0;
  }
  return free_numbers >= kLooks * kNumbersAtOnce / 2;
}

// As accept does: cut to the room there is, with the full length told.
void GiveAddress(const void* peer, socklen_t peer_length, sockaddr* address, socklen_t* length) {
  if (address == nullptr || length == nullptr) return;
  std::memcpy(address, peer, *length < peer_length ? *length : peer_length);
  *length = peer_length;
}

}  // namespace

bool Member::NearDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return true;
  const auto number = static_cast<uint64_t>(last_number_.load(std::memory_order_relaxed));
  if (number + kNumbersToSpare >= limit.rlim_cur) return true;
  const uint64_t now = Now();
  if (now - looked_at_.load(std::memory_order_relaxed) > kLookIsOld ||
      looked_below_.load(std::memory_order_relaxed) != limit.rlim_cur) {
    had_room_.store(HasRoomBelow(limit.rlim_cur), std::memory_order_relaxed);
    looked_below_.store(limit.rlim_cur, std::memory_order_relaxed);
    looked_at_.store(now, std::memory_order_relaxed);
  }
  return !had_room_.load(std::memory_order_relaxed);
}

Received Member::ReceiveOne(OverExec over_exec, HandoffFrame* frame, UniqueFd* connection) {
  const int channel = channel_.get();
  if (channel < 0) return Received::kNothing;
  if (!NearDescriptorLimit()) return ReceiveFrame(channel, false, over_exec, frame, connection);
  // One at a time, or the frame that one thread has seen could be another's. The other one takes
  // what there is; who comes meanwhile finds nothing.
  if (being_careful_.exchange(true)) return Received::kNothing;
  const Received received = ReceiveFrame(channel, true, over_exec, frame, connection);
  being_careful_.store(false);
  return received;
}

int Member::FinishHandoff(UniqueFd connection, const HandoffFrame& frame, sockaddr* address,
                          socklen_t* length, int flags) {
  const int number = connection.Release();
  last_number_.store(number, std::memory_order_relaxed);
  const bool nonblocking = (flags & kAcceptNonBlocking) != 0;
  if (nonblocking != (frame.kind == FrameKind::kNonBlocking)) {
    sys::Control(number, F_SETFL, nonblocking ? O_RDWR | O_NONBLOCK : O_RDWR);
  }
  GiveAddress(frame.peer, frame.peer_length, address, length);
  return number;
}

// It is readable for ever. A ringdeald that is there mends it or has closed it, and deals; without
// one nothing comes until there is one again.
void Member::LeaveShutDownListener(const Page* page) {
  if (page == nullptr) {
    RemoveFromReadySet(ready_set_.get(), listener_.get());
    return;
  }
  cannot_be_direct_.store(true);
  if (HasNewOrder(*page)) FollowOrder();
}

int Member::AcceptDirect(sockaddr* address, socklen_t* length, int flags, Page** counted) {
  const int listener = listener_.get();
  if (listener < 0) {
    errno = ENOTCONN;
    return -1;
  }
  Page* page = page_.load(std::memory_order_acquire);
  const int number = AcceptFrom(listener, address, length, flags);
  if (number < 0 && errno == EINVAL && IsShutDown(listener)) {
    LeaveShutDownListener(page);
    errno = EAGAIN;
  }
  if (number >= 0 && page != nullptr) {
    last_number_.store(number, std::memory_order_relaxed);
    CountDirect(page);
    *counted = page;
  }
  return number;
}

int Member::Accept(sockaddr* address, socklen_t* length, int flags, Page** counted) {
  Use use(this);
  const int saved_errno = errno;
  const OverExec over_exec =
      (flags & kAcceptCloseOnExec) != 0 ? OverExec::kClosed : OverExec::kKept;
  *counted = nullptr;
  while (true) {
    const Form form = SettledForm();
    if (form != Form::kApart && HasLost()) {
      errno = EAGAIN;
      return -1;
    }
    if (form == Form::kDirect) return AcceptDirect(address, length, flags, counted);
    Page* page = page_.load(std::memory_order_acquire);
    if (form != Form::kHandoff || page == nullptr) {
      errno = EAGAIN;
      return -1;
    }
    if (HasNewOrder(*page)) FollowOrder();
    SayNonBlocking(page, (flags & kAcceptNonBlocking) != 0);
    HandoffFrame frame;
    UniqueFd connection;
    switch (ReceiveOne(over_exec, &frame, &connection)) {
      case Received::kConnection:
        RINGDEAL_FAILPOINT("received");
        CountTaken(page);
        *counted = page;
        errno = saved_errno;
        return FinishHandoff(std::move(connection), frame, address, length, flags);
      case Received::kBell:
        CountRung(page);
        break;
      case Received::kEnd:
        if (!LostChannel()) LoseRingdeald();
        break;
      case Received::kBroken:
        LostChannel();
        break;
      case Received::kLost:
        CountTaken(page);
        if (CountClosed(page, 1)) client::Poke(control_.get());
        [[fallthrough]];
      case Received::kFull:
        errno = EMFILE;
        return -1;
      case Received::kNothing:
        // The channel comes first: what was handed off as the mode changed waits for nobody.
        if (page->signs.mode_seen.load(std::memory_order_relaxed) == PageMode::kDirect) {
          errno = saved_errno;
          return AcceptDirect(address, length, flags, counted);
        }
        errno = EAGAIN;
        return -1;
    }
  }
}

Page* Member::EnterWait() {
  Use use(this);
  Page* page = page_.load(std::memory_order_acquire);
  if (page != nullptr) client::EnterWait(page, control_.get());
  return page;
}

void Member::Poke() {
  Use use(this);
  client::Poke(control_.get());
}

int Member::Wait() {
  BlockingUse use(this);
  const Form form = SettledForm();
  if (HasLost()) return 0;
  if (form == Form::kDirect) {
    // No longer than to the next look, which is the caller's to make.
    const uint64_t now = Now();
    const uint64_t next = next_look();
    const uint64_t left = next > now ? next - now : 0;
    const int slice_ms = next == 0 ? -1 : static_cast<int>(left / 1'000'000) + 1;
    return WaitOnReadySet(ready_set_.get(), slice_ms) < 0 ? -1 : 0;
  }
  Page* page = page_.load(std::memory_order_acquire);
  const int channel = channel_.get();
  if (form != Form::kHandoff || page == nullptr || channel < 0) return 0;
  use.Show(page);
  return WaitForFrame(channel);
}

}  // namespace ringdeal::client
