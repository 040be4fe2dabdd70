#include "daemon/operating/event_loop.h"

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include <event2/event.h>
#include <event2/thread.h>

namespace ringdeal {
namespace {

using Clock = std::chrono::steady_clock;

// libevent makes its locks when a base is made, so it must know of threads before the first one.
event_base* MakeBase() {
  static std::once_flag once;
  std::call_once(once, [] { evthread_use_pthreads(); });
  event_base* base = event_base_new();
  if (base == nullptr) throw std::system_error(errno, std::generic_category(), "event loop");
  return base;
}

timeval ToTimeval(std::chrono::nanoseconds delay) {
  const auto micros = std::chrono::ceil<std::chrono::microseconds>(delay).count();
  if (micros <= 0) return {};
  timeval value;
  value.tv_sec = static_cast<decltype(value.tv_sec)>(micros / 1000000);
  value.tv_usec = static_cast<decltype(value.tv_usec)>(micros % 1000000);
  return value;
}

// noexcept where libevent calls us: an exception must not unwind through C.
class LoopWatch : public EventLoop::Watch {
 public:
  LoopWatch(event_base* base, int descriptor, short what, std::function<void()> callback)
      : event_(event_new(base, descriptor, what, &LoopWatch::Fired, this)),
        callback_(std::make_shared<std::function<void()>>(std::move(callback))) {
    if (event_ == nullptr) throw std::bad_alloc();
  }
  LoopWatch(const LoopWatch&) = delete;
  LoopWatch& operator=(const LoopWatch&) = delete;
  ~LoopWatch() override { event_free(event_); }

  bool TryEnable() { return event_add(event_, nullptr) == 0; }
  void Enable() override { TryEnable(); }
  void Disable() override { event_del(event_); }

  void Arm(std::chrono::nanoseconds delay) override {
    deadline_ = Clock::now() + delay;
    AddTimer(delay);
  }

 private:
  void AddTimer(std::chrono::nanoseconds delay) {
    const timeval value = ToTimeval(delay);
    event_add(event_, &value);
  }

  static void Fired(evutil_socket_t, short what, void* argument) noexcept {
    auto* watch = static_cast<LoopWatch*>(argument);
    if (what & EV_TIMEOUT) {
      // libevent counts with a coarse and cached clock, which may be some milliseconds behind.
      const auto early = watch->deadline_ - Clock::now();
      if (early > Clock::duration::zero()) return watch->AddTimer(early);
    }
    // Held here, so that the callback may destroy its own watch.
    const auto callback = watch->callback_;
    (*callback)();
  }

  event* event_;
  const std::shared_ptr<std::function<void()>> callback_;
  Clock::time_point deadline_;
};

std::unique_ptr<EventLoop::Watch> MakeEnabled(event_base* base, int descriptor, short what,
                                              std::function<void()> callback) {
  auto watch = std::make_unique<LoopWatch>(base, descriptor, what, std::move(callback));
  if (!watch->TryEnable()) return nullptr;
  return watch;
}

}  // namespace

// What other threads ask for. `wake` is armed exactly while `work` is not empty, so each Post but
// the first of a round costs no system call. It is a timer without delay, not an activation: those
// that a callback makes run before the loop looks at its descriptors again, so that work which
// posts itself anew would starve them.
struct EventLoop::Inbox {
  explicit Inbox(event_base* base) : wake(event_new(base, -1, 0, &Inbox::Woken, this)) {
    if (wake == nullptr) throw std::bad_alloc();
  }
  ~Inbox() { event_free(wake); }

  void Put(std::function<void()> item) {
    // Armed under the lock: who sees the work done knows that its poster has left libevent.
    const std::lock_guard lock(mutex);
    work.push_back(std::move(item));
    const timeval now = {};
    if (work.size() == 1 && event_add(wake, &now) < 0) std::abort();  // out of memory
  }

  static void Woken(evutil_socket_t, short, void* argument) noexcept {
    auto* inbox = static_cast<Inbox*>(argument);
    std::vector<std::function<void()>> round;
    {
      const std::lock_guard lock(inbox->mutex);
      round.swap(inbox->work);
    }
    for (auto& item : round) item();
  }

  event* wake;
  std::mutex mutex;
  std::vector<std::function<void()>> work;  // guarded by mutex
  bool stopping = false;                    // loop's thread only
};

EventLoop::EventLoop() : base_(MakeBase()) {
  try {
    inbox_ = std::make_unique<Inbox>(base_);
  } catch (...) {
    event_base_free(base_);
    throw;
  }
}

EventLoop::~EventLoop() {
  inbox_.reset();
  event_base_free(base_);
}

std::unique_ptr<EventLoop::Watch> EventLoop::WatchReadable(int descriptor,
                                                           std::function<void()> callback) {
  return MakeEnabled(base_, descriptor, EV_READ | EV_PERSIST, std::move(callback));
}

std::unique_ptr<EventLoop::Watch> EventLoop::WatchWritable(int descriptor,
                                                           std::function<void()> callback) {
  return MakeEnabled(base_, descriptor, EV_WRITE | EV_PERSIST, std::move(callback));
}

std::unique_ptr<EventLoop::Watch> EventLoop::WatchSignal(int number,
                                                         std::function<void()> callback) {
  return MakeEnabled(base_, number, EV_SIGNAL | EV_PERSIST, std::move(callback));
}

std::unique_ptr<EventLoop::Watch> EventLoop::MakeTimer(std::function<void()> callback) {
  return std::make_unique<LoopWatch>(base_, -1, 0, std::move(callback));
}

void EventLoop::Post(std::function<void()> work) { inbox_->Put(std::move(work)); }

void EventLoop::Run() {
  inbox_->stopping = false;
  while (!inbox_->stopping) {
    // Nothing can go on without the kernel's readiness, and nobody would notice a loop that ended.
    if (event_base_loop(base_, EVLOOP_NO_EXIT_ON_EMPTY) < 0) std::abort();
  }
}

void EventLoop::Stop() {
  Post([this] {
    inbox_->stopping = true;
    event_base_loopbreak(base_);
  });
}

}  // namespace ringdeal
