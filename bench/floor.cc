#include "bench/floor.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include "protocol/descriptor_passing.h"
#include "protocol/handoff_frame.h"
#include "protocol/unique_fd.h"

namespace ringdeal::bench {
namespace {

bool HandOff(int channel, int connection, HandoffFrame* frame) {
  int cpu = 0;
  socklen_t size = sizeof(cpu);
  getsockopt(connection, SOL_SOCKET, SO_INCOMING_CPU, &cpu, &size);
  ++frame->sequence;
  return SendWithDescriptors(channel, BytesOf(*frame, FrameBytes(*frame)), {},
                             {&connection, size_t{1}}, 0)
      .ok();
}

}  // namespace

void RunFloorAcceptor(int listener, std::span<const int> channels) {
  const UniqueFd poller(epoll_create1(EPOLL_CLOEXEC));
  epoll_event interest = {.events = EPOLLIN, .data = {}};
  epoll_ctl(poller.get(), EPOLL_CTL_ADD, listener, &interest);

  HandoffFrame frame = {};
  frame.kind = FrameKind::kConnection;
  size_t turn = 0;
  while (true) {
    epoll_event event;
    if (epoll_wait(poller.get(), &event, 1, -1) < 0) continue;
    while (true) {
      socklen_t length = sizeof(frame.peer);
      const UniqueFd connection(
          accept4(listener, reinterpret_cast<sockaddr*>(frame.peer), &length, SOCK_CLOEXEC));
      if (!connection) break;
      frame.peer_length = length;
      if (!HandOff(channels[turn++ % channels.size()], connection.get(), &frame)) return;
    }
  }
}

}  // namespace ringdeal::bench
