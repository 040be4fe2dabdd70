// A listener: its sockets, its dealer and its counters. Made and ended by the control thread, which
// alone changes its sockets; shared with the acceptor and with recall threads, which may return
// late.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/accepting/accept_error.h"
#include "daemon/dealing/dealer.h"
#include "daemon/operating/config.h"
#include "protocol/socket_identity.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

// SO_REUSEPORT siblings, or sockets that lost their path, of one listener. None is closed early,
// since that would reset what waits in its accept queue.
inline constexpr size_t kMostSockets = 1024;

// What the acceptor is doing with a listener. Written by the acceptor thread alone.
enum class IntakeState : uint8_t {
  kAccepting,
  kAwaiting,
  kHolding,
  kResetting,
  kLimited,
  kPaused,
  kDirect,
  kStopped
};

// How often accepting stopped, and how long it did where it has gone on.
struct StopCounters {
  std::atomic<uint64_t> times{0};
  std::atomic<uint64_t> ns{0};
};

// Written by the acceptor thread alone (relaxed: each is read by itself), only growing.
struct IntakeCounters {
  std::atomic<uint64_t> accepted{0};
  std::array<std::atomic<uint64_t>, kCountedAcceptErrors> errors{};
  StopCounters holds;
  StopCounters rate_pauses;
  std::atomic<uint64_t> listener_repairs{0};

  // Null of a state that is not counted.
  StopCounters* Of(IntakeState state) {
    if (state == IntakeState::kHolding) return &holds;
    return state == IntakeState::kLimited ? &rate_pauses : nullptr;
  }
};

class Listener {
 public:
  // One of the sockets of a listener. SO_REUSEPORT siblings of one address are one listener.
  struct Socket {
    UniqueFd descriptor;
    SocketIdentity identity;
    int flags = 0;  // status flags that it had when it came
  };

  Listener(ListenerConfig config, bool owned, uid_t uid, const Limits& limits);

  // Control thread; valid until the next Use.
  const ListenerConfig& config() const { return *config_; }
  // Any thread: as it is now. An acceptor asks whenever it is woken.
  std::shared_ptr<const ListenerConfig> SharedConfig() const;
  const std::string& name() const { return name_; }

  // Control thread: from now on these, for the workers and connections that are there too. Counts
  // go on. The name, the address and the path's owner stay as they are. The caller wakes the
  // listener.
  void Use(const ListenerConfig& config, const Limits& limits);
  const std::string& address() const { return address_; }
  bool owned() const { return owned_; }
  // A socket unit of the service manager has the socket too, and waits on it for the next start: it
  // is not ours to close. Control thread.
  bool lent() const { return lent_; }
  void MarkLent() { lent_ = true; }
  uid_t uid() const { return uid_; }

  // The socket's address becomes the listener's if it is the first.
  Result<void> AddSocket(UniqueFd descriptor, int flags);
  // One that has lost its path. REQUIRES: the listener has the one that clients come to.
  Result<void> AddLostSocket(UniqueFd descriptor);
  // The last one is where clients come, and what workers are given.
  const std::vector<Socket>& sockets() const { return sockets_; }
  const Socket* Find(const SocketIdentity& identity) const;

  Dealer& dealer() { return dealer_; }
  IntakeCounters& counters() { return counters_; }
  std::atomic<IntakeState>& intake_state() { return intake_state_; }

  // True while the acceptor has been asked to look at the listener and has not begun. Set by who
  // asks, cleared by the acceptor before it looks.
  std::atomic<bool>& wake_posted() { return wake_posted_; }

  void Show(ListenerSnapshot* snapshot, uint64_t now_ns);

 private:
  const std::string name_;
  mutable std::mutex config_mutex_;
  // Changed by the control thread alone, which need not lock to read it.
  std::shared_ptr<const ListenerConfig> config_;
  const bool owned_;
  bool lent_ = false;
  const uid_t uid_;  // who offered it, if it was adopted
  std::string address_;
  std::vector<Socket> sockets_;
  Dealer dealer_;
  IntakeCounters counters_;
  std::atomic<IntakeState> intake_state_{IntakeState::kAccepting};
  std::atomic<bool> wake_posted_{false};
};

}  // namespace ringdeal
