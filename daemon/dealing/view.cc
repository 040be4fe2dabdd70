#include "daemon/dealing/view.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ringdeal {
namespace {

// Who was passed over for longer is not owed more than so many turns: else it would draw every tie
// for as long as it had drawn none.
constexpr uint64_t kMostOwedTurns = 4 * kRankUnit;
// In the fixed point of ranks: more connections than any honest worker holds.
constexpr double kMostSlack = static_cast<double>(uint64_t{1} << 61);
// A claim is taken up by one of so many workers of one CPU, or by none.
constexpr size_t kMostClaimantsTried = 16;

// In the tree one in a long pass comes after all others, so that it hides none of them.
Rank RankAmongNeighbours(Rank rank) {
  if (rank.in_long_pass) rank.first |= uint64_t{1} << 63;
  return rank;
}

// With what it counts now, in kWholePart.
uint64_t WeightOf(const WorkerView& worker) { return uint64_t{worker.weight} * worker.part; }

// Spreads successive numbers evenly, as a hash of the client's address would.
uint64_t Scatter(uint64_t number) {
  number *= 0x9e3779b97f4a7c15;
  return number ^ (number >> 32);
}

}  // namespace

void View::Add(Slot slot, uint32_t weight) {
  if (slot >= workers_.size()) {
    workers_.resize(slot + 1);
    places_.resize(slot + 1);
  }
  workers_[slot] = {.slot = slot, .weight = weight, .turn = current_turn_};
  places_[slot] = members_.size();
  members_.push_back(slot);
  covered_ = false;
}

void View::Remove(Slot slot) {
  Update(slot, 0, Standing::kUnavailable);
  seats_.Leave(slot);
  const Slot last = members_.back();
  members_[places_[slot]] = last;
  places_[last] = places_[slot];
  members_.pop_back();
}

void View::Update(Slot slot, uint64_t load, Standing standing, bool in_long_pass) {
  WorkerView& worker = workers_[slot];
  if (worker.load == load && worker.standing == standing && worker.in_long_pass == in_long_pass) {
    return;
  }
  Forget(worker);
  if (worker.standing == Standing::kUnavailable) worker.turn = std::max(worker.turn, current_turn_);
  worker.load = load;
  worker.standing = standing;
  worker.in_long_pass = in_long_pass;
  Remember(worker);
}

void View::SetPart(Slot slot, uint32_t part) {
  WorkerView& worker = workers_[slot];
  if (worker.part == part) return;
  Forget(worker);
  worker.part = part;
  // A turn that was far off while the part was small is not waited for any more.
  worker.turn = std::min(worker.turn, current_turn_ + TurnOf(worker));
  Remember(worker);
}

double View::DueLoad(Slot slot) const {
  if (eligible_weight_ == 0) return 0;
  return static_cast<double>(eligible_load_) * workers_[slot].weight * kWholePart /
         static_cast<double>(eligible_weight_);
}

void View::Dealt(Slot slot, ReceivingCpu cpu) {
  CountDeal(slot, cpu);
  WorkerView& worker = workers_[slot];
  Forget(worker);
  worker.load += 1;
  current_turn_ = std::max(current_turn_, worker.turn);
  worker.turn =
      std::max(worker.turn + kMostOwedTurns, current_turn_) - kMostOwedTurns + TurnOf(worker);
  worker.last_dealt = ++deals_;
  Remember(worker);
}

void View::Forget(const WorkerView& worker) {
  load_ -= worker.load;
  if (worker.standing != Standing::kEligible) return;
  eligible_load_ -= worker.load;
  eligible_weight_ -= WeightOf(worker);
}

void View::Remember(const WorkerView& worker) {
  load_ += worker.load;
  const Rank rank = policy_->rank(worker);
  if (worker.standing == Standing::kEligible) {
    eligible_load_ += worker.load;
    eligible_weight_ += WeightOf(worker);
    eligible_.Put(worker.slot, rank);
    seats_.Put(worker.slot, RankAmongNeighbours(rank));
  } else {
    eligible_.Remove(worker.slot);
    seats_.Remove(worker.slot);
  }
  if (worker.standing == Standing::kBusy) {
    busy_.Put(worker.slot, rank);
  } else {
    busy_.Remove(worker.slot);
  }
}

void View::UsePolicy(const Policy* policy, const PolicyRules& rules) {
  policy_ = policy;
  rules_ = rules;
  if (!policy_->by_place && deck_ != nullptr) {
    deck_ = nullptr;
    cursors_.clear();
    seats_ = Seats();
    covered_ = false;
  }
  // Each takes its place by its rank under the new policy.
  for (const Slot slot : members_) {
    Forget(workers_[slot]);
    Remember(workers_[slot]);
  }
}

void View::SetDeck(std::shared_ptr<const Deck>* deck, Seats* seats) {
  std::vector<size_t> cursors;
  for (const Deck::Row& row : (*deck)->rows()) {
    const size_t before = HasRows() ? deck_->RowOf(row.cpu) : 0;
    const bool goes_on = HasRows() && deck_->rows()[before].cpu == row.cpu;
    cursors.push_back(goes_on ? cursors_[before] % row.sequence.size() : 0);
  }
  cursors_ = std::move(cursors);
  deck_.swap(*deck);
  if (!seats_.Match(*seats)) {
    std::swap(seats_, *seats);
    for (const Slot slot : members_) {
      if (IsEligible(slot)) seats_.Put(slot, RankAmongNeighbours(RankOf(slot)));
    }
  }
  covered_ = IsCovered();
}

bool View::IsCovered() const {
  size_t covered = 0;
  for (const Deck::Row& row : deck_->rows()) covered += seats_.At(row.cpu).size();
  return covered == seats_.size();
}

std::optional<Slot> View::NextOfRow(ReceivingCpu cpu) const {
  if (!policy_->by_rows || !HasRows()) return std::nullopt;
  const size_t row = deck_->RowOf(cpu);
  return deck_->rows()[row].sequence[cursors_[row]];
}

bool View::IsWithinGuard(Slot slot) const {
  const WorkerView& first = workers_[*eligible_.First()];
  const WorkerView& worker = workers_[slot];
  if (worker.in_long_pass && !first.in_long_pass) return false;
  // The slack is above the lowest load, and what is compared has this connection on both sides.
  const double workers = static_cast<double>(eligible_.size());
  const double percent = rules_.slack_percent / 100 * static_cast<double>(eligible_load_);
  const double above_one = std::max(rules_.slack * workers, percent) - workers;
  const double per_weight = above_one / (static_cast<double>(eligible_weight_) / kWholePart);
  const double slack = std::clamp(per_weight * static_cast<double>(kRankUnit), 0.0, kMostSlack);
  return policy_->rank(worker).first <= policy_->rank(first).first + static_cast<uint64_t>(slack);
}

std::optional<Slot> View::NearestWithinGuard(ReceivingCpu cpu) const {
  std::optional<Slot> nearest;
  for (Place place = seats_.Around(cpu); place != kAnywhere; place = seats_.Outward(place)) {
    const std::optional<Slot> slot = seats_.FirstWithin(place);
    if (!slot || !IsWithinGuard(*slot)) continue;
    if (!seats_.IsAhead(place)) return slot;
    if (!nearest) nearest = slot;
  }
  const std::optional<Slot> first = FirstEligible();
  return nearest && first && seats_.IsAhead(seats_.AroundWorker(*first)) ? nearest : first;
}

std::optional<Slot> View::Claimant(ReceivingCpu cpu) const {
  const std::span<const Slot> sitting = seats_.At(cpu);
  if (sitting.empty()) return std::nullopt;
  const Slot start = static_cast<Slot>(Scatter(deals_) % workers_.size());
  size_t index = std::lower_bound(sitting.begin(), sitting.end(), start) - sitting.begin();
  for (size_t tried = 0; tried < std::min(sitting.size(), kMostClaimantsTried); ++tried, ++index) {
    const Slot slot = sitting[index % sitting.size()];
    const bool may = covered_ || rules_.coverage == Coverage::kAny || seats_.SeatOf(slot)->set;
    if (may && IsEligible(slot)) return slot;
  }
  return std::nullopt;
}

void View::CountDeal(Slot slot, ReceivingCpu cpu) {
  if (!HasRows()) return;
  if (const auto workers = static_cast<double>(eligible_.size()); workers > 0) {
    const double mean_weight = static_cast<double>(eligible_weight_) / workers;
    seats_.Serve(slot, mean_weight / static_cast<double>(WeightOf(workers_[slot])), 1 / workers);
  }
  ++counts_.by_ring[seats_.Distance(cpu, slot)];
  const std::optional<Slot> next = NextOfRow(cpu);
  if (!next) return;
  if (*next != slot && IsEligible(*next) && !IsWithinGuard(*next)) ++counts_.turned_away;
  const size_t row = deck_->RowOf(cpu);
  cursors_[row] = (cursors_[row] + 1) % deck_->rows()[row].sequence.size();
}

std::optional<Slot> View::NextToRead() {
  if (members_.empty()) return std::nullopt;
  next_to_read_ = (next_to_read_ + 1) % members_.size();
  return members_[next_to_read_];
}

void View::Show(ListenerSnapshot* snapshot) const {
  const auto dealt = [](uint64_t count) { return count > 0; };
  const auto& by_ring = counts_.by_ring;
  if (deck_ == nullptr && std::none_of(by_ring.begin(), by_ring.end(), dealt)) return;
  for (size_t ring = 0; ring < counts_.by_ring.size(); ++ring) {
    snapshot->deals_by_ring[std::to_string(ring)] = counts_.by_ring[ring];
  }
  snapshot->turned_away = counts_.turned_away;
  if (deck_ == nullptr) return;
  for (const Deck::Row& row : deck_->rows()) {
    RowSnapshot& shown = snapshot->deck.emplace_back();
    shown.cpu = row.cpu;
    for (const Deck::Stake& stake : row.stakes) {
      shown.stakes.push_back({stake.slot, stake.share, stake.ring});
    }
  }
}

}  // namespace ringdeal
