#include "cli/control_client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include <nlohmann/json.hpp>

#include "protocol/control_messages.h"
#include "protocol/descriptor_passing.h"

namespace ringdeal {
namespace {

constexpr timeval kPatience = {.tv_sec = 5, .tv_usec = 0};

ControlError Unreachable(const std::string& path, const char* step, int error) {
  const char* reason = error == EAGAIN ? "no answer within 5 seconds" : std::strerror(error);
  return {.text = std::string(step) + " " + path + ": " + reason, .refused = false};
}

Result<UniqueFd, ControlError> Connect(const std::string& path) {
  sockaddr_un address;
  socklen_t length = 0;
  if (!MakeControlAddress(path.c_str(), false, &address, &length)) {
    return Unreachable(path, "cannot use control socket", ENAMETOOLONG);
  }
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  if (!socket) return Unreachable(path, "cannot make a socket for", errno);
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  if (connect(socket.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) {
    return Unreachable(path, "no ringdeald at", errno);
  }
  return socket;
}

Result<void, ControlError> SendLine(int socket, const std::string& path, std::string line) {
  line += '\n';
  std::span<const std::byte> rest = BytesOf(*line.data(), line.size());
  while (!rest.empty()) {
    const Result<size_t> sent = SendWithDescriptors(socket, {}, rest, {}, 0);
    if (!sent) return Unreachable(path, "cannot ask ringdeald at", sent.error().number);
    rest = rest.subspan(*sent);
  }
  return {};
}

Result<ControlAnswer, ControlError> ReceiveLine(int socket, const std::string& path) {
  ControlAnswer answer;
  std::vector<std::byte> buffer(kMaxMessageBytes);
  while (answer.line.find('\n') == std::string::npos) {
    Result<ReceivedMessage> message = ReceiveWithDescriptors(socket, buffer, 0);
    if (!message) return Unreachable(path, "no ringdeald at", message.error().number);
    if (message->bytes == 0 || answer.line.size() > kMaxMessageBytes) {
      return ControlError{.text = "ringdeald at " + path + " closed the connection"};
    }
    answer.line.append(reinterpret_cast<const char*>(buffer.data()), message->bytes);
    if (message->descriptor_count > 0) answer.descriptor = std::move(message->descriptors[0]);
  }
  return answer;
}

}  // namespace

Result<ControlAnswer, ControlError> AskDaemon(const std::string& path, const std::string& request) {
  std::string target = path;
  if (target.empty()) {
    char default_path[sizeof(sockaddr_un::sun_path)];
    if (!DefaultControlPath(default_path, sizeof(default_path))) {
      return ControlError{.text = "no default control socket: XDG_RUNTIME_DIR is not set"};
    }
    target = default_path;
  }
  Result<UniqueFd, ControlError> socket = Connect(target);
  if (!socket) return socket.error();
  if (auto sent = SendLine(socket->get(), target, request); !sent) return sent.error();
  Result<ControlAnswer, ControlError> answer = ReceiveLine(socket->get(), target);
  if (!answer) return answer.error();

  const auto json = nlohmann::json::parse(answer->line, nullptr, false);
  if (json.is_object() && json.contains("error") && json["error"].is_string()) {
    return ControlError{.text = json["error"].get<std::string>(), .refused = true};
  }
  if (!json.is_object() || !json.contains("ok")) {
    return ControlError{.text = "ringdeald at " + target + " sent no answer that is understood"};
  }
  return answer;
}

}  // namespace ringdeal
