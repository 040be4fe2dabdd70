// Passing descriptors over AF_UNIX sockets: every SCM_RIGHTS rule of the project in one place. Any
// thread, signal handlers too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/result.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

// The most descriptors that any message of the protocol carries.
inline constexpr size_t kMaxDescriptorsPerMessage = 4;

struct ReceivedMessage {
  size_t bytes = 0;  // 0: the other end is gone
  UniqueFd descriptors[kMaxDescriptorsPerMessage];
  size_t descriptor_count = 0;
};

// Sends `head` and then `body` as one message with the descriptors, which stay the caller's. Never
// raises SIGPIPE, goes on after EINTR. At least one byte must be sent: descriptors travel with
// data. Returns the bytes that were sent, on a stream maybe fewer than given; the descriptors
// travel with the first of them, so the rest is sent without. `flags`: MSG_DONTWAIT or 0.
Result<size_t> SendWithDescriptors(int socket, std::span<const std::byte> head,
                                   std::span<const std::byte> body,
                                   std::span<const int> descriptors, int flags);

// What the receiver does with descriptors over exec.
enum class OverExec { kClosed, kKept };

// Receives one message. What arrives is close-on-exec unless it is to be kept. Goes on after EINTR
// only where `flags` has MSG_DONTWAIT: a blocking receive answers EINTR as recvmsg does. A
// truncated message is an error and what came of its descriptors is closed: EMFILE if the process
// had no number free for one of them (the descriptor is lost unless MSG_PEEK was given), EMSGSIZE
// if there were too many or the data did not fit.
Result<ReceivedMessage> ReceiveWithDescriptors(int socket, std::span<std::byte> data, int flags,
                                               OverExec over_exec = OverExec::kClosed);

template <typename T>
std::span<const std::byte> BytesOf(const T& object, size_t size = sizeof(T)) {
  return {reinterpret_cast<const std::byte*>(&object), size};
}

}  // namespace ringdeal
