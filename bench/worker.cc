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

}  // namespace

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

bool TakeAll(int channel, Page* page, bool (*keeps)(const HandoffFrame&)) {
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
    if (keeps != nullptr && keeps(frame)) {
      (void)message->descriptors[0].Release();
      continue;
    }
    message->descriptors[0].Reset();
    page->progress.closed.fetch_add(1, std::memory_order_relaxed);
  }
}

void ServeChannel(int channel, Page* page, int control) {
  page->progress.style.store(AcceptStyle::kEvents, std::memory_order_relaxed);
  page->progress.state.store(WorkerState::kWorker, std::memory_order_seq_cst);
  do {
    EnterWait(page, control);
    pollfd wait = {.fd = channel, .events = POLLIN, .revents = 0};
    poll(&wait, 1, -1);
    LeaveWait(page);
  } while (TakeAll(channel, page));
}

UniqueFd ConnectControl(const char* control_path) {
  sockaddr_un address;
  socklen_t length;
  if (!MakeControlAddress(control_path, false, &address, &length)) return UniqueFd();
  UniqueFd control(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(control.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) return UniqueFd();
  return control;
}

std::optional<Membership> Join(const char* control_path, const char* name) {
  Membership membership = {ConnectControl(control_path), UniqueFd(), MappedPage()};
  RegisterRequest request;
  request.listener = name;
  char line[512];
  const size_t length = FormatRegisterRequest(line, sizeof(line), request);
  const int control = membership.control.get();
  if (control < 0 || send(control, line, length, MSG_NOSIGNAL) < 0) return std::nullopt;
  auto answer =
      ReceiveWithDescriptors(control, {reinterpret_cast<std::byte*>(line), sizeof(line)}, 0);
  if (!answer || answer->descriptor_count <= kPageMemory) {
    std::fprintf(stderr, "a worker was refused: %.*s\n",
                 answer ? static_cast<int>(answer->bytes) : 0, line);
    return std::nullopt;
  }
  auto page = MapReceivedPage(answer->descriptors[kPageMemory].get());
  if (!page) return std::nullopt;
  membership.channel = std::move(answer->descriptors[kChannelEnd]);
  membership.page = std::move(*page);
  return membership;
}

int RunRingdealWorker(const char* control_path, const char* name) {
  const auto membership = Join(control_path, name);
  if (!membership) return 1;
  ServeChannel(membership->channel.get(), membership->page.get(), membership->control.get());
  return 0;
}

}  // namespace ringdeal::bench
