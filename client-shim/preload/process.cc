#include "client-shim/preload/process.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "client-shim/client/kernel_call_linux.h"
#include "client-shim/client/process.h"

namespace ringdeal::shim {
namespace {

constexpr int kResetting = -1;
constexpr int kPatientYields = 10000;

struct ProcessPage {
  std::atomic<int> pid;  // 0: just forked
};

ProcessPage* page = nullptr;
bool page_is_wiped = false;  // the kernel does it (Linux 4.14)
void (*run_after_fork)() = nullptr;

int KernelPid() { return static_cast<int>(kernel::Call(SYS_getpid)); }

// What another thread of the same new child does meanwhile. Bounded: a signal handler may have
// interrupted the very thread that resets.
void WaitForReset() {
  for (int i = 0; i < kPatientYields && page->pid.load() == kResetting; ++i) sched_yield();
}

void Reset(int seen) {
  if (!page->pid.compare_exchange_strong(seen, kResetting)) return WaitForReset();
  run_after_fork();
  page->pid.store(KernelPid());
}

}  // namespace

void WatchForForks(void (*after_fork)()) {
  run_after_fork = after_fork;
  constexpr size_t kBytes = 4096;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  page_is_wiped = madvise(memory, kBytes, MADV_WIPEONFORK) == 0;
  page = static_cast<ProcessPage*>(memory);
  page->pid.store(KernelPid());
}

void NoticeFork() {
  if (page == nullptr) return;
  const int pid = page->pid.load(std::memory_order_acquire);
  if (pid > 0 && (page_is_wiped || pid == KernelPid())) return;
  if (pid == kResetting) return WaitForReset();
  Reset(pid);
}

bool SharesOurMemory() {
  NoticeFork();
  return page != nullptr && page->pid.load(std::memory_order_relaxed) != KernelPid();
}

int OwnPid() { return page != nullptr ? page->pid.load(std::memory_order_relaxed) : 0; }

}  // namespace ringdeal::shim

namespace ringdeal::client {

void NoticeFork() { shim::NoticeFork(); }

}  // namespace ringdeal::client
