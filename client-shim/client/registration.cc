#include "client-shim/client/registration.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>

#include "client-shim/client/page_writer.h"
#include "protocol/descriptor_passing.h"
#include "protocol/peer_credentials.h"
#include "protocol/socket_pair.h"
#include "protocol/system_calls.h"

namespace ringdeal::client {
namespace {

constexpr size_t kMaxRequestBytes = 1024;

// The uid of the first ringdeald that this process or an ancestor reached, plus one; 0: none yet.
constinit std::atomic<uint64_t> first_peer{0};

// Whoever comes first may take an abstract name; a path belongs to who owns its directory.
bool IsFirstPeer(int control, bool abstract) {
  const auto peer = PeerCredentialsOf(control);
  if (!peer) return false;
  const bool trusted = !abstract || peer->uid == 0 || peer->uid == geteuid();
  if (!trusted && first_peer.load() == 0) return false;
  uint64_t expected = 0;
  const uint64_t seen = static_cast<uint64_t>(peer->uid) + 1;
  return first_peer.compare_exchange_strong(expected, seen) || expected == seen;
}

Result<UniqueFd> MakeStream() {
  int descriptor = sys::Socket(AF_UNIX, SOCK_STREAM);
  if (descriptor < 0) return SystemError{errno, "socket"};
  UniqueFd stream(descriptor);
  sys::Control(descriptor, F_SETFD, FD_CLOEXEC);
  // A connect to a full queue of a frozen ringdeald must not wait.
  sys::Control(descriptor, F_SETFL, O_RDWR | O_NONBLOCK);
  return stream;
}

Result<UniqueFd> ConnectTo(const char* path, bool abstract) {
  sockaddr_un address;
  socklen_t length = 0;
  if (!MakeControlAddress(path, abstract, &address, &length)) {
    return SystemError{ENAMETOOLONG, "control path"};
  }
  Result<UniqueFd> stream = MakeStream();
  if (!stream) return stream;
  if (sys::Connect(stream->get(), reinterpret_cast<sockaddr*>(&address), length) != 0) {
    return SystemError{errno, "connect"};
  }
  if (!IsFirstPeer(stream->get(), abstract))
    return SystemError{EPERM, "control socket of another user"};
  return stream;
}

struct Reply {
  Answer answer = Answer::kAbsent;
  ReceivedMessage message;
  char text[1024] = "";
};

bool WaitReadable(int control, uint64_t deadline) {
  while (true) {
    const uint64_t now = Now();
    pollfd watched = {control, POLLIN, 0};
    const int left_ms = now >= deadline ? 0 : static_cast<int>((deadline - now) / 1000000) + 1;
    const int ready = sys::Poll(&watched, 1, left_ms);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

// ringdeald says no for now: it is as good as not there yet.
bool PassesByItself(const char* error) {
  constexpr const char* kCodes[] = {code::kStopping, code::kNotYet, code::kNoDescriptors,
                                    code::kTooManyConnections};
  for (const char* each : kCodes) {
    char quoted[32];
    std::snprintf(quoted, sizeof(quoted), "\"%s\"", each);
    if (std::strstr(error, quoted) != nullptr) return true;
  }
  return false;
}

void ReceiveReply(int control, int patience_ms, Reply* reply) {
  if (!WaitReadable(control, Now() + static_cast<uint64_t>(patience_ms) * 1000000)) {
    reply->answer = Answer::kLate;
    return;
  }
  auto received = ReceiveWithDescriptors(
      control, std::as_writable_bytes(std::span(reply->text, sizeof(reply->text) - 1)),
      MSG_DONTWAIT);
  if (!received) {
    reply->answer = received.error().number == EAGAIN ? Answer::kLate : Answer::kAbsent;
    return;
  }
  if (received->bytes == 0) return;
  reply->text[strcspn(reply->text, "\n")] = '\0';
  reply->answer = Answer::kGiven;
  if (std::strstr(reply->text, "\"error\":") != nullptr) {
    reply->answer = PassesByItself(reply->text) ? Answer::kAbsent : Answer::kRefused;
  }
  reply->message = std::move(*received);
}

bool SendLine(int control, const char* line, size_t length, std::span<const int> descriptors) {
  if (length == 0) return false;
  const auto sent = SendWithDescriptors(control, std::as_bytes(std::span(line, length)), {},
                                        descriptors, MSG_DONTWAIT);
  return sent && *sent == length;
}

}  // namespace

Result<UniqueFd> ConnectToControl(const char* path) {
  Result<UniqueFd> by_path = ConnectTo(path, false);
  if (by_path || by_path.error().number == EPERM) return by_path;
  return ConnectTo(path, true);
}

Result<UniqueFd> ConnectThroughDoor(int door) {
  Result<SocketPair> pair = MakeStreamPair();
  if (!pair) return pair.error();
  const int theirs = pair->second.get();
  const char knock = 'k';
  const auto sent =
      SendWithDescriptors(door, BytesOf(knock), {}, std::span<const int>(&theirs, 1), MSG_DONTWAIT);
  if (!sent) return sent.error();
  return std::move(pair->first);
}

BindResult AskToBind(const char* path, const char* address, int patience_ms) {
  BindResult result;
  char line[kMaxRequestBytes];
  Result<UniqueFd> control = ConnectToControl(path);
  if (!control) return result;
  if (!SendLine(control->get(), line, FormatBindRequest(line, sizeof(line), address), {})) {
    return result;
  }
  Reply reply;
  ReceiveReply(control->get(), patience_ms, &reply);
  result.answer = reply.answer;
  std::memcpy(result.text, reply.text, sizeof(result.text) - 1);
  UniqueFd* descriptors = reply.message.descriptors;
  if (reply.message.descriptor_count == 2) {
    result.listener = std::move(descriptors[kOwnedListener]);
    result.door = std::move(descriptors[kDoorAfterListener]);
  } else if (reply.message.descriptor_count == 1) {
    result.door = std::move(descriptors[kDoorAlone]);
  }
  return result;
}

bool SendRegistration(int control, const RegisterRequest& request, int listener) {
  char line[kMaxRequestBytes];
  const std::span<const int> descriptors(&listener, listener >= 0 ? 1 : 0);
  return SendLine(control, line, FormatRegisterRequest(line, sizeof(line), request), descriptors);
}

Registration ReceiveRegistration(int control, int patience_ms) {
  Registration registration;
  Reply reply;
  ReceiveReply(control, patience_ms, &reply);
  registration.answer = reply.answer;
  std::memcpy(registration.text, reply.text, sizeof(registration.text) - 1);
  if (reply.answer != Answer::kGiven) return registration;
  UniqueFd* descriptors = reply.message.descriptors;
  Result<MappedPage> page = SystemError{EPROTO, "answer without descriptors"};
  if (reply.message.descriptor_count >= 2) {
    page = MapReceivedPage(descriptors[kPageMemory].get());
  }
  if (!page) {
    registration.answer = Answer::kRefused;
    return registration;
  }
  registration.channel = std::move(descriptors[kChannelEnd]);
  registration.page = std::move(*page);
  registration.listener = std::move(descriptors[kSharedListener]);
  return registration;
}

}  // namespace ringdeal::client
