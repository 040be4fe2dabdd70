#include "client-shim/client/page_writer.h"

#include <sys/socket.h>
#include <time.h>

#include <cerrno>
#include <span>

#include "client-shim/client/current_cpu.h"
#include "protocol/control_messages.h"
#include "protocol/descriptor_passing.h"

namespace ringdeal::client {
namespace {

// Asked after a seq_cst store of something that makes eligible: either ringdeald's next look sees
// that store, or this load sees its wish.
bool IsPokeWanted(const Page* page) {
  return page->orders.wants_ready.load(std::memory_order_seq_cst) != 0;
}

void PokeIfWanted(const Page* page, int control) {
  if (IsPokeWanted(page)) Poke(control);
}

}  // namespace

void Poke(int control) {
  if (control < 0) return;
  const int saved_errno = errno;
  (void)SendWithDescriptors(control, std::as_bytes(std::span(kReadyLine, sizeof(kReadyLine) - 1)),
                            {}, {}, MSG_DONTWAIT);
  errno = saved_errno;
}

uint64_t Now() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec) + 1;
}

void EnterWait(Page* page, int control) {
  if (page->progress.waiting.fetch_add(1) == 0) {
    // The wait that follows joining ends no pass: whoever is rung meanwhile has not declined by it.
    const bool in_pass = page->progress.pass_start.exchange(0) != 0;
    if (in_pass) page->signs.passes.fetch_add(1, std::memory_order_relaxed);
  }
  PokeIfWanted(page, control);
}

void LeaveWait(Page* page) {
  if (page->progress.waiting.fetch_sub(1) != 1) return;
  uint64_t begun = Now();
  page->progress.pass_start.store(begun);
  // Another thread may have begun to wait between the two stores, and its 0 come first. What it has
  // stored since, coming back, stays.
  if (page->progress.waiting.load() != 0)
    page->progress.pass_start.compare_exchange_strong(begun, 0);
}

void SetState(Page* page, WorkerState state, int control) {
  page->progress.state.store(state);
  if (state == WorkerState::kWorker || state == WorkerState::kObserver) PokeIfWanted(page, control);
}

void SetStyle(Page* page, bool one_at_a_time, int control) {
  page->progress.style.store(one_at_a_time ? AcceptStyle::kOneAtATime : AcceptStyle::kEvents);
  PokeIfWanted(page, control);
}

void SayNonBlocking(Page* page, bool nonblocking) {
  const uint32_t word = nonblocking ? 1 : 0;
  std::atomic<uint32_t>& said = page->progress.nonblocking;
  if (said.load(std::memory_order_relaxed) != word) said.store(word, std::memory_order_relaxed);
}

void CountTaken(Page* page) {
  page->progress.taken.fetch_add(1, std::memory_order_release);
  page->signs.cpu.store(CurrentCpu() + 1, std::memory_order_relaxed);
}

void CountDirect(Page* page) { page->progress.direct.fetch_add(1, std::memory_order_relaxed); }

bool CountClosed(Page* page, uint64_t connections) {
  page->progress.closed.fetch_add(connections);
  return IsPokeWanted(page);
}

bool SetQueued(Page* page, uint32_t connections) {
  page->progress.queued.store(connections);
  return IsPokeWanted(page);
}

void CountRung(Page* page) { page->signs.rung.fetch_add(1, std::memory_order_relaxed); }

}  // namespace ringdeal::client
