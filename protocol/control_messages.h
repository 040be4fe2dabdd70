// The words of the control socket: one JSON object a line, each way. The requests that a worker
// sends are written here with snprintf, so that the shim needs no JSON. Any thread.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>

namespace ringdeal {

inline constexpr int kProtocolVersion = 1;
inline constexpr size_t kMaxMessageBytes = 64 * 1024;  // a line, with its end

// Values of "op".
namespace op {
inline constexpr char kBind[] = "bind";  // "address": may I have this owned listener, and a door
inline constexpr char kRegister[] = "register";  // join a listener
inline constexpr char kReady[] = "ready";        // poke: I became eligible and wants_ready was set
inline constexpr char kReport[] = "report";      // counts of a worker that maps no page
inline constexpr char kLeave[] = "leave";        // leave the listener
inline constexpr char kStatus[] = "status";      // the status document
inline constexpr char kDrain[] = "drain";        // hand nothing more to a worker
inline constexpr char kUndrain[] = "undrain";
inline constexpr char kReload[] = "reload";  // read the configuration again
}  // namespace op

// Values of "code" in an error answer. docs/protocol.md says of each what it means and what to do.
namespace code {
inline constexpr char kBadRequest[] = "bad-request";
inline constexpr char kTooLarge[] = "too-large";
inline constexpr char kUnknownOp[] = "unknown-op";
inline constexpr char kWrongVersion[] = "wrong-version";
inline constexpr char kUnknownListener[] = "unknown-listener";
inline constexpr char kNotYet[] = "not-yet";
inline constexpr char kUnknownWorker[] = "unknown-worker";
inline constexpr char kNotAllowed[] = "not-allowed";
inline constexpr char kNotRegistered[] = "not-registered";
inline constexpr char kAlreadyRegistered[] = "already-registered";
inline constexpr char kBadDescriptors[] = "bad-descriptors";
inline constexpr char kTooManyWorkers[] = "too-many-workers";
inline constexpr char kTooManyConnections[] = "too-many-connections";
inline constexpr char kNoDescriptors[] = "no-descriptors";
inline constexpr char kStopping[] = "stopping";
inline constexpr char kBadConfiguration[] = "bad-configuration";
}  // namespace code

inline constexpr char kReadyLine[] = "{\"op\":\"ready\"}\n";
inline constexpr char kLeaveLine[] = "{\"op\":\"leave\"}\n";

// The position of each descriptor in the answer to "register".
enum RegisterAnswer : size_t { kChannelEnd = 0, kPageMemory = 1, kSharedListener = 2 };
// The position of each descriptor in the answer to "bind": a door, and before it the listener if
// the address is owned.
enum BindAnswer : size_t { kOwnedListener = 0, kDoorAfterListener = 1, kDoorAlone = 0 };

// A worker's share beside the others': from 1 to this.
inline constexpr unsigned kMostWeight = 1000;

struct RegisterRequest {
  const char* listener = nullptr;  // by name, or
  const char* address = nullptr;   // by address; neither is needed beside a listener descriptor
  const char* cpus = nullptr;      // "0-3,8": where the operator set the worker
  unsigned weight = 1;
  bool observer = false;         // shows interest, has not called accept
  bool forked = false;           // this process neither bound nor listened itself
  bool one_at_a_time = false;    // its slot is blocking
  bool direct = false;           // it does what the page's mode says
  bool passes_listener = false;  // descriptor 0 of the message is the listener
  bool passes_pidfd = false;     // the last descriptor of the message is a pidfd of the sender
};

// Writes one line with its end into `out`. Returns its length, or 0 if it does not fit or a text
// holds a byte that would need escaping (a quote, a backslash, a control character).
size_t FormatBindRequest(char* out, size_t size, const char* address);
size_t FormatRegisterRequest(char* out, size_t size, const RegisterRequest& request);

// The control socket's address: the path, or the abstract name of the same text, which is reached
// from a chroot. Returns false if the path is too long. Abstract names exist on Linux only.
bool MakeControlAddress(const char* path, bool abstract, sockaddr_un* address, socklen_t* length);

// /run/ringdeal/control.sock for root, else $XDG_RUNTIME_DIR/ringdeal/control.sock. Returns false
// if it does not fit or there is no such directory for this user.
bool DefaultControlPath(char* out, size_t size);

}  // namespace ringdeal
