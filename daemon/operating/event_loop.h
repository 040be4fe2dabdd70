// An event loop of one thread: the only place, with the HTTP server, that sees libevent. Everything
// but Post and Stop belongs to the thread that runs the loop (or to its maker, before Run).
#pragma once

#include <chrono>
#include <functional>
#include <memory>

struct event_base;

namespace ringdeal {

class EventLoop {
 public:
  // A watched descriptor or a timer. Destroying it ends the watch; the descriptor is not closed.
  class Watch {
   public:
    virtual ~Watch() = default;
    // A watch starts enabled, a timer starts disarmed.
    virtual void Enable() = 0;
    virtual void Disable() = 0;
    // Timers: fires once, not before `delay` and some milliseconds late; arming again moves it.
    virtual void Arm(std::chrono::nanoseconds delay) = 0;
  };

  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Level-triggered: called as long as `descriptor` can be read. A watch may be destroyed in its
  // own callback. Null if the kernel cannot watch the descriptor.
  std::unique_ptr<Watch> WatchReadable(int descriptor, std::function<void()> callback);
  std::unique_ptr<Watch> WatchWritable(int descriptor, std::function<void()> callback);
  // Of one loop in the process: libevent has one set of signal handlers.
  std::unique_ptr<Watch> WatchSignal(int number, std::function<void()> callback);
  std::unique_ptr<Watch> MakeTimer(std::function<void()> callback);

  // Thread-safe: runs `work` on the loop's thread, in the order of the calls.
  void Post(std::function<void()> work);

  // Runs until Stop.
  void Run();
  // Thread-safe. The loop ends once it has done what was posted before.
  void Stop();

  // For the HTTP server alone.
  event_base* native() { return base_; }

 private:
  struct Inbox;

  event_base* base_;
  std::unique_ptr<Inbox> inbox_;
};

}  // namespace ringdeal
