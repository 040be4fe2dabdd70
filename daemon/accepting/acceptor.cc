#include "daemon/accepting/acceptor.h"

#include <pthread.h>

#include <csignal>
#include <utility>

#include "daemon/accepting/acceptor_scheduling.h"

namespace ringdeal {
namespace {

constexpr int kInterruptSignal = SIGUSR2;
constexpr std::chrono::milliseconds kPatienceAtEnd(50);

// Its only work is to make a system call return; without SA_RESTART, that it does not go on.
void InstallInterruptHandler() {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  sigaction(kInterruptSignal, &action, nullptr);
}

// Every signal but ours is the control thread's.
void RunWithoutSignals(EventLoop* loop) {
  sigset_t blocked;
  sigfillset(&blocked);
  sigdelset(&blocked, kInterruptSignal);
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  loop->Run();
}

}  // namespace

Acceptor::Acceptor(IntakeCallbacks callbacks) : callbacks_(std::move(callbacks)) {
  InstallInterruptHandler();
  std::promise<void> ended;
  ended_ = ended.get_future();
  thread_ = std::thread([this, ended = std::move(ended)]() mutable {
    LetWorkersFinishTheirTurn();
    RunWithoutSignals(&loop_);
    ended.set_value();
  });
}

Acceptor::~Acceptor() {
  loop_.Stop();
  // It may be in a system call that blocks, and nobody watches any more.
  while (ended_.wait_for(kPatienceAtEnd) != std::future_status::ready) Interrupt();
  thread_.join();
}

void Acceptor::Watch(const std::shared_ptr<Listener>& listener, int socket) {
  loop_.Post([this, listener, socket] {
    std::unique_ptr<Intake>& intake = intakes_[listener.get()];
    if (intake == nullptr) intake = std::make_unique<Intake>(listener, &loop_, &gate_, &callbacks_);
    if (stopped_) intake->Stop();
    intake->WatchSocket(socket);
  });
}

void Acceptor::Forget(const std::shared_ptr<Listener>& listener, std::function<void()> done) {
  loop_.Post([this, listener, done = std::move(done)] {
    intakes_.erase(listener.get());
    done();
  });
}

void Acceptor::Wake(const std::shared_ptr<Listener>& listener) {
  // Once for all that ask before it is done: a worker may ask without end.
  if (listener->wake_posted().exchange(true, std::memory_order_acq_rel)) return;
  loop_.Post([this, listener] {
    listener->wake_posted().exchange(false, std::memory_order_acq_rel);
    const auto found = intakes_.find(listener.get());
    if (found != intakes_.end()) found->second->Resume();
  });
}

void Acceptor::StopAccepting(const std::shared_ptr<Listener>& listener,
                             std::function<void()> done) {
  loop_.Post([this, listener, done = std::move(done)] {
    const auto found = intakes_.find(listener.get());
    if (found != intakes_.end()) found->second->Stop();
    done();
  });
}

void Acceptor::StopAccepting(std::function<void()> done) {
  loop_.Post([this, done = std::move(done)] {
    stopped_ = true;
    for (const auto& [listener, intake] : intakes_) intake->Stop();
    done();
  });
}

void Acceptor::Interrupt() { pthread_kill(thread_.native_handle(), kInterruptSignal); }

}  // namespace ringdeal
