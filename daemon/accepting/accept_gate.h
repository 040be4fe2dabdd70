// Where an acceptor thread says that it accepts and deals one connection, so that the control
// thread can see one that does not come back: a holder of the listener can clear O_NONBLOCK behind
// our back, or set SO_LINGER so that our close of the connection, if it is the last, waits.
#pragma once

#include <atomic>
#include <cstdint>

namespace ringdeal {

class AcceptGate {
 public:
  // Acceptor thread, around each accept4 and what becomes of its connection. Returns true if nobody
  // watches the gate: the caller must then have the control thread watch it.
  bool Enter(int socket) {
    socket_.store(socket, std::memory_order_relaxed);
    crossings_.store(crossings_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    return !watched_.load(std::memory_order_seq_cst) &&
           !watched_.exchange(true, std::memory_order_seq_cst);
  }
  void Leave() {
    crossings_.store(crossings_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // Control thread. Odd while the acceptor is inside.
  uint64_t crossings() const { return crossings_.load(std::memory_order_seq_cst); }
  int socket() const { return socket_.load(std::memory_order_relaxed); }

  // Control thread: ends the watch, unless the acceptor moved since `seen`. Either the acceptor
  // sees that nobody watches, or this sees that it entered: each stores before it loads, all
  // sequentially consistent.
  bool TryEndWatch(uint64_t seen) {
    watched_.store(false, std::memory_order_seq_cst);
    if (crossings() == seen) return true;
    return watched_.exchange(true, std::memory_order_seq_cst);
  }

 private:
  std::atomic<uint64_t> crossings_{0};  // written by the acceptor
  std::atomic<int> socket_{-1};         // written by the acceptor, before crossings_
  // The acceptor only sets it, the control thread clears it; who sets it starts the watch.
  std::atomic<bool> watched_{false};
};

}  // namespace ringdeal
