// A view with a deck: workers and receiving CPUs on a synthetic machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/dealing/deck.h"
#include "daemon/dealing/view.h"

namespace ringdeal {

struct DealingTable {
  struct Worker {
    int cpu = -1;  // -1: anywhere
    uint32_t weight = 1;
    bool set = false;
  };

  DealingTable(const Policy* policy, const std::string& machine, std::vector<Worker> workers,
               const std::vector<int>& receiving, const PolicyRules& rules = {})
      : view(policy, rules), workers(std::move(workers)) {
    auto read = Topology::Read("synthetic:" + machine);
    EXPECT_TRUE(read.ok()) << read.error();
    topology = std::make_shared<const Topology>(std::move(*read));
    for (Slot slot = 0; slot < this->workers.size(); ++slot) {
      view.Add(slot, this->workers[slot].weight);
      view.Update(slot, 0, Standing::kEligible);
    }
    std::vector<Receiver> receivers;
    for (const int cpu : receiving) receivers.push_back({cpu, 1});
    Redeal(receivers);
  }

  Place PlaceOf(int cpu) const { return topology->PlaceOf(cpu).value_or(kAnywhere); }

  void Redeal(const std::vector<Receiver>& receivers) { Redeal(receivers, view.members()); }

  void RedealTo(const std::vector<Slot>& slots, const std::vector<int>& receiving) {
    std::vector<Receiver> receivers;
    for (const int cpu : receiving) receivers.push_back({cpu, 1});
    Redeal(receivers, slots);
  }

  void Redeal(const std::vector<Receiver>& receivers, const std::vector<Slot>& slots) {
    std::vector<Seat> seats;
    std::vector<Claim> claims;
    for (const Slot slot : slots) {
      const Worker& worker = workers[slot];
      seats.push_back({slot, PlaceOf(worker.cpu), worker.set});
      claims.push_back({slot, static_cast<double>(worker.weight), PlaceOf(worker.cpu)});
    }
    deck = std::make_shared<const Deck>(Deck::Deal(*topology, receivers, claims));
    std::shared_ptr<const Deck> dealt = deck;
    Seats made(topology, seats);
    view.SetDeck(&dealt, &made);
  }

  Slot Deal(ReceivingCpu cpu) {
    const Slot slot = view.Pick(cpu).value();
    view.Dealt(slot, cpu);
    return slot;
  }

  void Close(Slot slot) {
    const WorkerView& worker = view.worker(slot);
    view.Update(slot, worker.load - 1, worker.standing, worker.in_long_pass);
  }

  View view;
  std::vector<Worker> workers;
  std::shared_ptr<const Topology> topology;
  std::shared_ptr<const Deck> deck;
};

}  // namespace ringdeal
