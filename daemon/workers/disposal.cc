#include "daemon/workers/disposal.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace ringdeal {
namespace {

constexpr std::chrono::seconds kIdleFor(5);

class Disposal {
 public:
  void Add(UniqueFd descriptor) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(descriptor));
    if (idle_ >= static_cast<int>(waiting_.size()) || threads_ == kMostDisposalThreads) {
      changed_.notify_one();
      return;
    }
    ++threads_;
    std::thread([this] { Run(); }).detach();
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      changed_.wait_for(lock, kIdleFor, [this] { return !waiting_.empty(); });
      --idle_;
      if (waiting_.empty()) break;
      UniqueFd descriptor = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      descriptor.Reset();
      lock.lock();
    }
    --threads_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<UniqueFd> waiting_;
  int threads_ = 0;
  int idle_ = 0;
};

}  // namespace

void Dispose(UniqueFd descriptor) {
  // Never destroyed: a thread that is stuck may return after main has.
  static Disposal* const disposal = new Disposal;
  if (descriptor) disposal->Add(std::move(descriptor));
}

}  // namespace ringdeal
