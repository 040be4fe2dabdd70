// The thread that takes connections back out of channels: nobody else receives, since a worker that
// withholds the memory of a receive of its own can block ours in the kernel for ever. One that does
// not return in time is abandoned and replaced.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "daemon/dealing/channel.h"

namespace ringdeal {

class RecallThread {
 public:
  // Called on the recall thread. Must stay callable as long as an abandoned thread may return.
  using Give = std::function<void(Connection)>;
  using Done = std::function<void()>;

  RecallThread();
  ~RecallThread();
  RecallThread(const RecallThread&) = delete;
  RecallThread& operator=(const RecallThread&) = delete;

  // Control thread: empties `channel`, gives each connection found, then calls `done` once. `done`
  // is called by AbandonIfStuck instead if the thread had to be abandoned over this channel.
  void Empty(std::shared_ptr<Channel> channel, Give give, Done done);

  // Control thread: to be called now and then while busy(). Replaces a thread that has been in one
  // receive for longer than `patience`, and returns the channel, which must not be emptied again;
  // null if it did not.
  std::shared_ptr<Channel> AbandonIfStuck(std::chrono::nanoseconds patience);
  bool busy() const;

 private:
  class Runner;

  std::shared_ptr<Runner> runner_;
};

}  // namespace ringdeal
