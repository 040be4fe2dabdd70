#include "daemon/dealing/recall_thread.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "daemon/operating/failpoint.h"

namespace ringdeal {

using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kRetryAfter(20);
constexpr std::chrono::milliseconds kPatienceAtEnd(200);
constexpr int kMostFailures = 250;  // five seconds of them

}  // namespace

// One thread and its queue. The thread holds the runner itself, so that one that was abandoned
// finds everything that it needs when it returns, however late.
class RecallThread::Runner {
 public:
  struct Job {
    std::shared_ptr<Channel> channel;
    Give give;
    Done done;
  };

  static void Start(std::shared_ptr<Runner> runner) {
    std::thread([runner = std::move(runner)] { runner->Run(); }).detach();
  }

  void Add(Job job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    changed_.notify_one();
  }

  // Returns once the thread has ended, or is stuck in a receive.
  void Stop() {
    std::unique_lock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, kPatienceAtEnd, [this] { return ended_; });
  }

  bool busy() const {
    const std::lock_guard lock(mutex_);
    return in_job_ || !jobs_.empty();
  }

  // If the thread has been in one receive for longer than `patience`: takes its other jobs over and
  // leaves it to itself.
  std::shared_ptr<Channel> Abandon(std::chrono::nanoseconds patience, std::deque<Job>* rest,
                                   Done* done) {
    const std::lock_guard lock(mutex_);
    if (!working_ || Clock::now() - receive_began_ < patience) return nullptr;
    stopped_ = true;
    *rest = std::exchange(jobs_, {});
    *done = std::exchange(current_done_, nullptr);
    return current_channel_;
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopped_ || !jobs_.empty(); });
      if (stopped_) break;
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      in_job_ = true;
      current_channel_ = job.channel;
      current_done_ = std::move(job.done);
      Work(job, &lock);
      if (const Done done = std::exchange(current_done_, nullptr)) {
        lock.unlock();
        done();
        lock.lock();
      }
      in_job_ = false;
      current_channel_.reset();
    }
    ended_ = true;
    changed_.notify_all();
  }

  // What is received is given even if the thread was abandoned meanwhile: no connection is lost.
  void Work(const Job& job, std::unique_lock<std::mutex>* lock) {
    int failures = 0;
    while (failures < kMostFailures) {
      working_ = true;
      receive_began_ = Clock::now();
      lock->unlock();
      RINGDEAL_FAILPOINT("recall-receive");
      Result<std::optional<Connection>> found = job.channel->TakeBack();
      const bool empty = found.ok() && !found->has_value();
      if (found.ok() && found->has_value()) {
        RINGDEAL_FAILPOINT("taken-back");
        job.give(std::move(**found));
      }
      lock->lock();
      working_ = false;
      if (empty) return;
      if (found.ok()) failures = 0;
      // No descriptor number or no memory: what waits in the channel stays there meanwhile.
      if (!found.ok()) {
        ++failures;
        changed_.wait_for(*lock, kRetryAfter, [this] { return stopped_; });
      }
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<Job> jobs_;
  bool stopped_ = false;
  bool ended_ = false;
  bool in_job_ = false;   // from taking a job to its end
  bool working_ = false;  // in a receive
  Clock::time_point receive_began_;
  std::shared_ptr<Channel> current_channel_;
  Done current_done_;
};

RecallThread::RecallThread() : runner_(std::make_shared<Runner>()) { Runner::Start(runner_); }

RecallThread::~RecallThread() { runner_->Stop(); }

void RecallThread::Empty(std::shared_ptr<Channel> channel, Give give, Done done) {
  runner_->Add({std::move(channel), std::move(give), std::move(done)});
}

std::shared_ptr<Channel> RecallThread::AbandonIfStuck(std::chrono::nanoseconds patience) {
  std::deque<Runner::Job> rest;
  Done done;
  std::shared_ptr<Channel> stuck = runner_->Abandon(patience, &rest, &done);
  if (stuck == nullptr) return nullptr;
  runner_ = std::make_shared<Runner>();
  Runner::Start(runner_);
  for (Runner::Job& job : rest) runner_->Add(std::move(job));
  if (done) done();
  return stuck;
}

bool RecallThread::busy() const { return runner_->busy(); }

}  // namespace ringdeal
