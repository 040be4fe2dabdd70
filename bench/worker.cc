#include "bench/worker.h"

#include <poll.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "protocol/control_messages.h"
#include "protocol/descriptor_passing.h"
#include "protocol/handoff_frame.h"

namespace ringdeal::bench {
namespace {

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

void EnterWait(Page* page, int control) {
  page->progress.pass_start.store(0, std::memory_order_relaxed);
  page->signs.passes.fetch_add(1, std::memory_order_relaxed);
  page->progress.waiting.store(1, std::memory_order_seq_cst);
  if (control >= 0 && page->orders.wants_ready.load(std::memory_order_seq_cst) != 0) {
    (void)!send(control, kReadyLine, sizeof(kReadyLine) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

void LeaveWait(Page* page) {
  page->progress.pass_start.store(NowNs(), std::memory_order_relaxed);
  page->progress.waiting.store(0, std::memory_order_release);
}

// Takes what is there. Returns false when the channel has ended.
bool DrainChannel(int channel, Page* page) {
  while (true) {
    HandoffFrame frame;
    auto message = ReceiveWithDescriptors(
        channel, {reinterpret_cast<std::byte*>(&frame), sizeof(frame)}, MSG_DONTWAIT);
    if (!message) return message.error().number == EAGAIN;
    if (message->bytes == 0) return false;
    if (frame.kind == FrameKind::kDoorbell) {
      page->signs.rung.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    page->progress.taken.fetch_add(1, std::memory_order_release);
    message->descriptors[0].Reset();
    page->progress.closed.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

void ServeChannel(int channel, Page* page, int control) {
  page->progress.style.store(AcceptStyle::kEvents, std::memory_order_relaxed);
  page->progress.state.store(WorkerState::kWorker, std::memory_order_seq_cst);
  do {
    EnterWait(page, control);
    pollfd wait = {.fd = channel, .events = POLLIN, .revents = 0};
    poll(&wait, 1, -1);
    LeaveWait(page);
  } while (DrainChannel(channel, page));
}

UniqueFd ConnectControl(const char* control_path) {
  sockaddr_un address;
  socklen_t length;
  if (!MakeControlAddress(control_path, false, &address, &length)) return UniqueFd();
  UniqueFd control(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(control.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) return UniqueFd();
  return control;
}

int RunRingdealWorker(const char* control_path, const char* name) {
  const UniqueFd control = ConnectControl(control_path);
  RegisterRequest request;
  request.listener = name;
  char line[512];
  const size_t length = FormatRegisterRequest(line, sizeof(line), request);
  if (!control || send(control.get(), line, length, MSG_NOSIGNAL) < 0) return 1;
  auto answer =
      ReceiveWithDescriptors(control.get(), {reinterpret_cast<std::byte*>(line), sizeof(line)}, 0);
  if (!answer || answer->descriptor_count <= kPageMemory) {
    std::fprintf(stderr, "handoff: a worker was refused: %.*s\n",
                 answer ? static_cast<int>(answer->bytes) : 0, line);
    return 1;
  }
  auto page = MapReceivedPage(answer->descriptors[kPageMemory].get());
  if (!page) return 1;
  ServeChannel(answer->descriptors[kChannelEnd].get(), page->get(), control.get());
  return 0;
}

}  // namespace ringdeal::bench
