#include "daemon/workers/control_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "daemon/workers/disposal.h"
#include "daemon/workers/request.h"
#include "protocol/control_messages.h"
#include "protocol/descriptor_passing.h"

namespace ringdeal {

bool IsAtEnd(int socket) {
  char byte;
  return recv(socket, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool ControlConnection::PeerIsGone() const {
  pollfd process = {process_.get(), POLLIN, 0};
  const bool ended = process_.valid() && poll(&process, 1, 0) == 1;
  return ended || IsAtEnd(socket_.get());
}

ControlConnection::ControlConnection(UniqueFd socket, Peer peer, Peer opener, EventLoop* loop,
                                     std::chrono::nanoseconds patience, Callbacks callbacks)
    : socket_(std::move(socket)),
      peer_(std::move(peer)),
      opener_(std::move(opener)),
      loop_(loop),
      callbacks_(std::move(callbacks)),
      readable_(loop->WatchReadable(socket_.get(), [this] { Read(); })),
      silence_(loop->MakeTimer([this] { End(nullptr); })),
      ending_(loop->MakeTimer([this] { callbacks_.ended(this, end_code_); })) {
  silence_->Arm(patience);
}

ControlConnection::~ControlConnection() {
  readable_.reset();
  // What lies unread in the socket is closed with it, and may be of any kind.
  Dispose(std::move(socket_));
  for (UniqueFd& descriptor : descriptors_) Dispose(std::move(descriptor));
}

bool ControlConnection::Answer(const std::string& line, std::span<const int> descriptors) {
  if (ended_) return false;
  const Result<size_t> sent = SendWithDescriptors(
      socket_.get(), {reinterpret_cast<const std::byte*>(line.data()), line.size()}, {},
      descriptors, MSG_DONTWAIT);
  if (sent && *sent == line.size()) return true;
  if (!sent && sent.error().number == ETOOMANYREFS && !descriptors.empty()) {
    Answer(ErrorLine({code::kNoDescriptors,
                      "this user has as many descriptors in flight as the kernel allows; "
                      "try again"}),
           {});
    return false;
  }
  End(nullptr);
  return false;
}

void ControlConnection::End(const char* code) {
  if (std::exchange(ended_, true)) return;
  end_code_ = code;
  if (readable_ != nullptr) readable_->Disable();
  if (process_ended_ != nullptr) process_ended_->Disable();
  ending_->Arm(std::chrono::nanoseconds(0));
}

void ControlConnection::BecomeMember() { silence_->Disable(); }

void ControlConnection::WatchProcess(UniqueFd process) {
  process_ = std::move(process);
  process_ended_ = loop_->WatchReadable(process_.get(), [this] { End(nullptr); });
}

// One read a turn, so that a flood on one connection does not keep the loop from the others.
void ControlConnection::Read() {
  std::array<std::byte, 16 * 1024> data;
  Result<ReceivedMessage> message = ReceiveWithDescriptors(socket_.get(), data, MSG_DONTWAIT);
  if (!message) {
    if (message.error().number == EAGAIN) return;
    const bool descriptors = message.error().number == EMSGSIZE || message.error().number == EMFILE;
    return End(descriptors ? code::kBadDescriptors : nullptr);
  }
  if (message->bytes == 0) return End(nullptr);
  for (size_t i = 0; i < message->descriptor_count; ++i) {
    descriptors_.push_back(std::move(message->descriptors[i]));
  }
  if (descriptors_.size() > kMaxDescriptorsPerMessage) return End(code::kBadDescriptors);
  unread_.append(reinterpret_cast<const char*>(data.data()), message->bytes);
  TakeLines();
}

void ControlConnection::TakeLines() {
  size_t begin = 0;
  while (!ended_) {
    const size_t end = unread_.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string_view line = std::string_view(unread_).substr(begin, end - begin);
    begin = end + 1;
    callbacks_.line(this, line, std::exchange(descriptors_, {}));
  }
  unread_.erase(0, begin);
  if (!ended_ && unread_.size() >= kMaxMessageBytes) End(code::kTooLarge);
}

}  // namespace ringdeal
