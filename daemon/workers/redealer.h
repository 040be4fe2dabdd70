// Keeps the decks of the listeners right: where their workers sit and what each CPU receives, and a
// new deck whenever that has changed. Control thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "daemon/accepting/listener.h"
#include "daemon/dealing/placement.h"
#include "daemon/operating/event_loop.h"

namespace ringdeal {

class Redealer {
 public:
  using ListenerPtr = std::shared_ptr<Listener>;

  // `follows_machine`: the topology is the running machine's, and is read again when CPUs come and
  // go.
  Redealer(EventLoop* loop, std::shared_ptr<const Topology> topology, bool follows_machine,
           uint64_t receive_half_life_ns);

  // To be called when the workers of a listener changed, and now and then while connections come.
  // Deals anew at once if the workers are others, and at most every kShortestNs if they moved or
  // the CPUs receive other shares. After a deal it rests, and looks by itself if it was called
  // meanwhile. Nothing for a policy that looks at no CPU.
  void Look(const ListenerPtr& listener, uint64_t now_ns);

  // The worker says that it may be given something. Looks if it has no seat yet, as an observer
  // that accepts from now on.
  void LookAt(const ListenerPtr& listener, Slot slot, uint64_t now_ns);

  // From now on this machine, `follows_machine` as at the start. The caller looks at the listeners.
  void UseTopology(std::shared_ptr<const Topology> topology, bool follows_machine, uint64_t now_ns);
  void UseHalfLife(uint64_t receive_half_life_ns);
  // The listener's policy has changed: what was known of it is not to go on.
  void Forget(const ListenerPtr& listener) { tables_.erase(listener.get()); }

  const Topology& topology() const { return *topology_; }

  static constexpr uint64_t kShortestNs = 100'000'000;
  // After a deal: a thousand workers that join at once, or one that says again and again that it is
  // none, must not keep the control thread from all others. With few workers a deal costs nothing.
  static constexpr uint64_t RestNs(size_t workers) {
    return workers > kFewWorkers ? (workers - kFewWorkers) * 100'000 : 0;
  }
  static constexpr size_t kFewWorkers = 16;
  static constexpr uint64_t kLookAtMachineNs = 1'000'000'000;

 private:
  struct Seated {
    uint64_t worker_id = 0;
    uint64_t taken = 0;
    Placement placement;
  };
  // What is known of one listener.
  struct Table {
    // Keeps no listener alive.
    std::weak_ptr<Listener> listener;
    std::shared_ptr<ReceiveShares> shares;  // null: the kernel does not say what CPU receives
    std::map<Slot, Seated> seated;
    bool moved = false;                // somebody did since the deck was dealt
    std::shared_ptr<const Deck> deck;  // null: none was dealt yet
    std::vector<Seat> seats;           // as the dealer has them
    std::vector<Receiver> receivers;   // that the deck is of
    uint64_t dealt_ns = 0;
    uint64_t rests_until_ns = 0;
    std::unique_ptr<EventLoop::Watch> timer;  // looks when the rest is over; null: never needed
    bool timer_is_armed = false;
  };
  using Dealables = std::vector<Dealer::Dealable>;

  void LookAfterRest(Table* table, uint64_t now_ns);
  void FollowMachine(uint64_t now_ns);
  void Use(std::shared_ptr<const Topology> topology, uint64_t now_ns);
  Table& TableOf(const ListenerPtr& listener, uint64_t now_ns);
  void CountAnew(Table* table, Listener* listener, uint64_t now_ns) const;
  // Returns true if the workers are not the ones of the last time.
  bool Seat(Table* table, const Dealables& workers, uint64_t now_ns) const;
  Seated Sit(const WorkerIdentity& identity) const;
  void Redeal(Table* table, Listener* listener, const Dealables& workers, bool others) const;

  EventLoop* const loop_;
  std::shared_ptr<const Topology> topology_;  // placements point into it
  bool follows_machine_;
  std::vector<int> usable_cpus_;  // when it was read
  uint64_t machine_seen_ns_ = 0;
  uint64_t half_life_ns_;
  // By what the listener's address was; those of listeners that are gone go with the next new one.
  std::map<const Listener*, Table> tables_;
};

}  // namespace ringdeal
