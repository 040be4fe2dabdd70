#include "daemon/dealing/deck.h"

#include <algorithm>
#include <utility>

#include "daemon/dealing/fair_sequence.h"

namespace ringdeal {
namespace {

// Of the whole. Less than dust is what rounding left; it is not dealt.
constexpr double kDust = 1e-10;
constexpr double kLeastShare = 1e-6;

// The places that a worker of the usual weight has in sequences, if it does not come out exact with
// fewer: so many that rounding takes or gives hardly more than a hundredth. The bounds keep all
// rows together small.
constexpr double kPlacesOfWorker = 128;
constexpr double kShort = 64;
constexpr double kLong = 65536;

// What a CPU has or a worker is owed, as part of the whole.
struct Part {
  uint32_t index = 0;
  double share = 0;
};
using Parts = std::vector<Part>;

template <typename T>
uint32_t Count(std::span<const T> all) {
  return static_cast<uint32_t>(all.size());
}

double Total(const Parts& parts) {
  double total = 0;
  for (const Part& part : parts) total += part.share;
  return total;
}

void Scale(double factor, Parts* parts) {
  for (Part& part : *parts) part.share *= factor;
  std::erase_if(*parts, [](const Part& part) { return part.share <= kDust; });
}

void MoveAll(Parts* from, Parts* to) {
  to->insert(to->end(), from->begin(), from->end());
  Parts().swap(*from);
}

ReceivingCpu KnownCpu(ReceivingCpu cpu) { return cpu > kGreatestCpu ? -1 : std::max(cpu, -1); }

// Shares of the whole, in ascending order of CPU, each CPU once.
std::vector<Receiver> Normalized(std::span<const Receiver> receivers) {
  std::vector<Receiver> sorted;
  double total = 0;
  for (const Receiver& receiver : receivers) {
    if (!(receiver.share > 0)) continue;
    sorted.push_back({KnownCpu(receiver.cpu), receiver.share});
    total += receiver.share;
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Receiver& a, const Receiver& b) { return a.cpu < b.cpu; });
  std::vector<Receiver> merged;
  for (const Receiver& receiver : sorted) {
    if (merged.empty() || merged.back().cpu != receiver.cpu) merged.push_back({receiver.cpu, 0});
    merged.back().share += receiver.share;
  }
  std::erase_if(merged, [=](const Receiver& each) { return each.share < kLeastShare * total; });
  if (merged.empty()) return {{-1, 1}};
  total = 0;
  for (const Receiver& receiver : merged) total += receiver.share;
  for (Receiver& receiver : merged) receiver.share /= total;
  return merged;
}

// In ascending order of slot; weights are shares of the whole.
std::vector<Claim> Normalized(std::span<const Claim> claims) {
  std::vector<Claim> owed(claims.begin(), claims.end());
  std::erase_if(owed, [](const Claim& claim) { return !(claim.weight > 0); });
  std::sort(owed.begin(), owed.end(),
            [](const Claim& a, const Claim& b) { return a.slot < b.slot; });
  double total = 0;
  for (const Claim& claim : owed) total += claim.weight;
  for (Claim& claim : owed) claim.weight /= total;
  return owed;
}

// The matching itself. What is left of CPUs and workers rises from object to object. It visits the
// objects backwards, children before their parents, so all lists are in descending order.
class Matching {
 public:
  struct Stake {
    uint32_t claim = 0;
    double share = 0;
    Ring ring = kFarthestRing;
  };

  Matching(const Topology& topology, std::span<const Receiver> receivers,
           std::span<const Claim> claims)
      : objects_(topology.objects()),
        supplies_(objects_.size()),
        demands_(objects_.size()),
        rows_(receivers.size()) {
    for (uint32_t row = Count(receivers); row-- > 0;) {
      const Place place = topology.PlaceOf(receivers[row].cpu).value_or(kAnywhere);
      supplies_[place].push_back({row, receivers[row].share});
    }
    for (uint32_t index = Count(claims); index-- > 0;) {
      const Place place = claims[index].place;
      demands_[place < objects_.size() ? place : kAnywhere].push_back(
          {index, claims[index].weight});
    }
  }

  // The stakes of each row, nearest first.
  std::vector<std::vector<Stake>> Run() {
    for (size_t place = objects_.size(); place-- > 0;) {
      Match(&supplies_[place], &demands_[place], objects_[place].ring);
      if (place == kAnywhere) break;
      MoveAll(&supplies_[place], &supplies_[objects_[place].parent]);
      MoveAll(&demands_[place], &demands_[objects_[place].parent]);
    }
    return std::move(rows_);
  }

 private:
  // All CPUs spend the same part of what they have, all workers get the same part of what they are
  // owed: so equal claims at one place get equal shares at every ring. Who gets whose goes by their
  // order, one after the other, which makes the fewest stakes.
  void Match(Parts* supplies, Parts* demands, Ring ring) {
    const double supply = Total(*supplies);
    const double demand = Total(*demands);
    const double spent = std::min(supply, demand);
    if (spent <= kDust) return;
    auto from = supplies->rbegin();
    double left = from->share * (spent / supply);
    for (auto to = demands->rbegin(); to != demands->rend(); ++to) {
      double owed = to->share * (spent / demand);
      while (owed > kDust && from != supplies->rend()) {
        const double stake = std::min(left, owed);
        if (stake > kDust) rows_[from->index].push_back({to->index, stake, ring});
        owed -= stake;
        left -= stake;
        if (left <= kDust && ++from != supplies->rend()) left = from->share * (spent / supply);
      }
    }
    Scale(1 - spent / supply, supplies);
    Scale(1 - spent / demand, demands);
  }

  std::span<const Topology::Object> objects_;
  std::vector<Parts> supplies_;  // by place; indexes are rows
  std::vector<Parts> demands_;   // by place; indexes are claims
  std::vector<std::vector<Stake>> rows_;
};

// By claim: the row of its greatest stake, from whose sequence it must not be missing.
std::vector<uint32_t> MainRows(const std::vector<std::vector<Matching::Stake>>& rows,
                               size_t claims) {
  std::vector<uint32_t> main_rows(claims, 0);
  std::vector<double> greatest(claims, 0);
  for (uint32_t row = 0; row < rows.size(); ++row) {
    for (const Matching::Stake& stake : rows[row]) {
      if (stake.share <= greatest[stake.claim]) continue;
      greatest[stake.claim] = stake.share;
      main_rows[stake.claim] = row;
    }
  }
  return main_rows;
}

// Turns the stakes of one row after the other into sequences. What rounding took from a worker in
// one row it gets in the next that it is in.
class Sequencer {
 public:
  // `claims` must stay where they are.
  Sequencer(const std::vector<Claim>& claims, const std::vector<std::vector<Matching::Stake>>& rows)
      : claims_(claims), main_rows_(MainRows(rows, claims.size())), lacking_(claims.size(), 0) {}

  std::vector<Slot> Sequence(uint32_t row, const std::vector<Matching::Stake>& stakes) {
    double share = 0;  // of the row
    double wanted = 0;
    double whole = 0;  // of its workers
    for (const Matching::Stake& stake : stakes) {
      share += stake.share;
      wanted += Wanted(stake);
      whole += claims_[stake.claim].weight;
    }
    std::vector<Due> dues;
    for (const Matching::Stake& stake : stakes) {
      dues.push_back({Wanted(stake) / wanted, main_rows_[stake.claim] == row});
    }
    const size_t longest = Longest(share / whole, stakes.size());
    const std::vector<size_t> places = PlacesFor(dues, longest);
    std::vector<Slot> sequence = Interleave(places);
    const double place = share / static_cast<double>(sequence.size());
    for (size_t i = 0; i < stakes.size(); ++i) {
      lacking_[stakes[i].claim] += stakes[i].share - place * static_cast<double>(places[i]);
    }
    for (Slot& each : sequence) each = claims_[stakes[each].claim].slot;
    return sequence;
  }

 private:
  // In bounds, so that a small row is not turned over for the rounding of a great one.
  double Wanted(const Matching::Stake& stake) const {
    return std::clamp(stake.share + lacking_[stake.claim], stake.share / 2, stake.share * 2);
  }
  // `part`: of what its workers are owed, what they get in this row.
  static size_t Longest(double part, size_t stakes) {
    const double places = kPlacesOfWorker * part * static_cast<double>(stakes);
    return std::max(stakes, static_cast<size_t>(std::clamp(places, kShort, kLong)));
  }

  const std::vector<Claim>& claims_;
  const std::vector<uint32_t> main_rows_;
  std::vector<double> lacking_;  // by claim
};

}  // namespace

Deck Deck::Deal(const Topology& topology, std::span<const Receiver> receivers,
                std::span<const Claim> claims) {
  const std::vector<Receiver> spenders = Normalized(receivers);
  const std::vector<Claim> owed = Normalized(claims);
  const auto matched = Matching(topology, spenders, owed).Run();
  Sequencer sequencer(owed, matched);
  Deck deck;
  for (uint32_t index = 0; index < matched.size(); ++index) {
    if (matched[index].empty()) continue;
    Row& row = deck.rows_.emplace_back();
    row.cpu = spenders[index].cpu;
    for (const auto& [claim, share, ring] : matched[index]) {
      row.stakes.push_back({owed[claim].slot, share, ring});
    }
    row.sequence = sequencer.Sequence(index, matched[index]);
  }
  if (!deck.rows_.empty()) deck.FindNearestRows(topology);
  return deck;
}

// CPUs to which several rows are equally near take them in turn.
void Deck::FindNearestRows(const Topology& topology) {
  const std::span<const Topology::Object> objects = topology.objects();
  std::vector<std::vector<uint32_t>> rows_in(objects.size());
  for (uint32_t row = 0; row < rows_.size(); ++row) {
    Place place = topology.PlaceOf(rows_[row].cpu).value_or(kAnywhere);
    for (; place != kAnywhere; place = objects[place].parent) rows_in[place].push_back(row);
    rows_in[kAnywhere].push_back(row);
  }
  std::vector<size_t> turns(objects.size(), 0);
  const int greatest = std::max(objects[kAnywhere].cpus.back(), rows_.back().cpu);
  for (ReceivingCpu cpu = -1; cpu <= greatest; ++cpu) {
    Place place = topology.PlaceOf(cpu).value_or(kAnywhere);
    while (rows_in[place].empty()) place = objects[place].parent;
    row_of_.push_back(rows_in[place][turns[place]++ % rows_in[place].size()]);
  }
  for (uint32_t row = 0; row < rows_.size(); ++row) {
    row_of_[static_cast<size_t>(rows_[row].cpu + 1)] = row;
  }
}

}  // namespace ringdeal
