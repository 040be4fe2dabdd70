#include "daemon/dealing/seats.h"

#include <algorithm>
#include <utility>

namespace ringdeal {
namespace {

// What an object is ahead or behind beyond this is forgotten.
constexpr double kMostRemembered = 4 * kMostAhead;

}  // namespace

Seats::Seats(std::shared_ptr<const Topology> topology, std::vector<Seat> seats)
    : topology_(std::move(topology)), seats_(std::move(seats)) {
  const std::span<const Topology::Object> objects = topology_->objects();
  sitting_.resize(objects.size());
  heaps_.resize(objects.size());
  telling_.resize(objects.size(), kAnywhere);
  within_.resize(objects.size());
  served_.resize(objects.size());
  for (size_t i = 0; i < seats_.size(); ++i) {
    const Seat& seat = seats_[i];
    if (seat.slot >= seat_of_.size()) seat_of_.resize(seat.slot + 1, kNone);
    seat_of_[seat.slot] = i;
    sitting_[seat.place].push_back(seat.slot);
    ++within_[seat.place];
  }
  for (std::vector<Slot>& slots : sitting_) std::sort(slots.begin(), slots.end());
  // Parents stand before their children.
  for (size_t place = objects.size(); place-- > 1;)
    within_[objects[place].parent] += within_[place];
  for (Place place = 1; place < objects.size(); ++place) {
    const Place parent = objects[place].parent;
    const bool tells = within_[place] > 0 && within_[place] != within_[parent];
    telling_[place] = tells ? place : telling_[parent];
    if (tells) heaps_[place].Reserve(static_cast<Slot>(seat_of_.size() - 1), within_[place]);
  }
}

bool Seats::Match(const Seats& made) const {
  const auto is_there = [this](const Seat& seat) { return seat_of_[seat.slot] != kNone; };
  return topology_ == made.topology_ && seats_ == made.seats_ &&
         std::all_of(seats_.begin(), seats_.end(), is_there);
}

void Seats::Put(Slot slot, const Rank& rank) {
  for (Place place = AroundWorker(slot); place != kAnywhere; place = Outward(place)) {
    heaps_[place].Put(slot, rank);
  }
}

void Seats::Remove(Slot slot) {
  for (Place place = AroundWorker(slot); place != kAnywhere; place = Outward(place)) {
    heaps_[place].Remove(slot);
  }
}

void Seats::Leave(Slot slot) {
  if (SeatOf(slot) == nullptr) return;
  Remove(slot);
  std::erase(sitting_[PlaceOf(slot)], slot);
  seat_of_[slot] = kNone;
}

void Seats::Serve(Slot slot, double turns, double due) {
  due_ += due;
  for (Place place = AroundWorker(slot); place != kAnywhere; place = Outward(place)) {
    const auto workers = static_cast<double>(within_[place]);
    served_[place] = std::clamp(served_[place] + turns, workers * (due_ - kMostRemembered),
                                workers * (due_ + kMostRemembered));
  }
}

bool Seats::IsAhead(Place place) const {
  return served_[place] > static_cast<double>(within_[place]) * (due_ + kMostAhead);
}

Ring Seats::Distance(ReceivingCpu cpu, Slot slot) const {
  return topology_->Distance(OwnPlace(cpu), PlaceOf(slot));
}

const Seat* Seats::SeatOf(Slot slot) const {
  if (slot >= seat_of_.size() || seat_of_[slot] == kNone) return nullptr;
  return &seats_[seat_of_[slot]];
}

std::span<const Slot> Seats::At(ReceivingCpu cpu) const {
  const std::optional<Place> place = topology_->PlaceOf(cpu);
  if (!place) return {};
  return sitting_[*place];
}

Place Seats::PlaceOf(Slot slot) const {
  const Seat* seat = SeatOf(slot);
  return seat == nullptr ? kAnywhere : seat->place;
}

}  // namespace ringdeal
