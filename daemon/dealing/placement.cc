#include "daemon/dealing/placement.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace ringdeal {
namespace {

// Counting the votes costs more than casting one, so not each is followed by it.
constexpr size_t kVotesBetweenCounts = 8;

}  // namespace

const char* NameOf(PlacementSource source) {
  switch (source) {
    case PlacementSource::kLearned:
      return "learned";
    case PlacementSource::kAffinity:
      return "affinity";
    case PlacementSource::kSet:
      return "set";
    case PlacementSource::kNone:
      break;
  }
  return "none";
}

bool Placement::Set(std::vector<int> cpus) {
  set_ = std::move(cpus);
  return Decide();
}

bool Placement::SetAffinity(std::vector<int> cpus) {
  affinity_ = std::move(cpus);
  return Decide();
}

bool Placement::Use(const Topology* topology) {
  topology_ = topology;
  learned_ = kAnywhere;
  if (votes_cast_ >= kFewestVotes) Learn();
  return Decide();
}

bool Placement::Accepted(int cpu, uint64_t now_ns) {
  if (source_ == PlacementSource::kSet || source_ == PlacementSource::kAffinity) return false;
  const std::optional<Place> place = topology_->PlaceOf(cpu);
  if (!place || (votes_cast_ > 0 && now_ns - last_vote_ns_ < kVoteIntervalNs)) return false;
  last_vote_ns_ = now_ns;
  votes_[votes_cast_++ % kVotes] = cpu;
  if (votes_cast_ < kFewestVotes || votes_cast_ % kVotesBetweenCounts != 0) return false;
  if (*place == learned_) return false;  // confirmed
  Learn();
  return Decide();
}

bool Placement::Decide() {
  const std::pair before(place_, source_);
  if (!set_.empty()) {
    place_ = topology_->Covering(set_);
    source_ = PlacementSource::kSet;
  } else if (IsNarrow(affinity_)) {
    place_ = topology_->Covering(affinity_);
    source_ = PlacementSource::kAffinity;
  } else {
    place_ = learned_;
    source_ = learned_ == kAnywhere ? PlacementSource::kNone : PlacementSource::kLearned;
  }
  return std::pair(place_, source_) != before;
}

bool Placement::IsNarrow(const std::vector<int>& cpus) const {
  const auto usable = static_cast<size_t>(std::count_if(
      cpus.begin(), cpus.end(), [this](int cpu) { return topology_->PlaceOf(cpu).has_value(); }));
  return usable > 0 && usable < topology_->objects()[kAnywhere].cpus.size();
}

bool Placement::IsInside(Place place, Place outer) const {
  while (place > outer) place = topology_->objects()[place].parent;
  return place == outer;
}

void Placement::Learn() {
  const std::span<const Topology::Object> objects = topology_->objects();
  std::vector<size_t> inside(objects.size(), 0);  // votes, by object
  size_t votes = 0;
  for (size_t i = 0; i < std::min(votes_cast_, kVotes); ++i) {
    const std::optional<Place> voted = topology_->PlaceOf(votes_[i]);
    if (!voted) continue;
    ++votes;
    for (Place place = *voted; place != kAnywhere; place = objects[place].parent) ++inside[place];
  }
  inside[kAnywhere] = votes;
  // Objects that have more than half are in one another: the last is the smallest.
  Place solid = kAnywhere;
  for (Place place = 1; place < objects.size(); ++place) {
    if (inside[place] * 8 >= votes * 7) solid = place;
  }
  if (votes == 0) solid = kAnywhere;
  if (IsInside(solid, learned_) || inside[learned_] * 2 < votes) learned_ = solid;
}

}  // namespace ringdeal
