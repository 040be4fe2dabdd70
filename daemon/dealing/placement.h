// Where in the machine one worker sits: at the smallest object that covers its CPUs. Set by the
// operator, else by its affinity, else learned from the CPUs on which it accepts. Pure; one thread
// at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "daemon/dealing/topology.h"

namespace ringdeal {

enum class PlacementSource : uint8_t {
  kNone,      // nothing is known: anywhere
  kLearned,   // most of its accepts were there
  kAffinity,  // its affinity mask is narrower than the machine
  kSet,       // `cpus` at registration: wins over all
};

// As status documents and metrics call it.
const char* NameOf(PlacementSource source);

class Placement {
 public:
  // A place is learned from the last kVotes accepts, of which no two count within kVoteInterval: a
  // process that the kernel moves about sits at the object in which it moves. It moves nearer when
  // seven of eight say so, and away when fewer than half are left where it was, so that one that
  // wanders does not make the deck change.
  static constexpr size_t kVotes = 64;
  static constexpr size_t kFewestVotes = 16;
  static constexpr uint64_t kVoteIntervalNs = 10'000'000;

  // The topology must outlive the placement, or its next Use.
  explicit Placement(const Topology* topology) : topology_(topology) {}

  // All of these say whether place or source changed.

  // CPUs that do not exist are passed over. Empty: not set.
  bool Set(std::vector<int> cpus);
  // Ignored if it is empty or no narrower than the machine.
  bool SetAffinity(std::vector<int> cpus);
  // The worker was seen to accept on this CPU; -1: not known.
  bool Accepted(int cpu, uint64_t now_ns);
  // The machine changed.
  bool Use(const Topology* topology);

  Place place() const { return place_; }
  PlacementSource source() const { return source_; }

 private:
  bool Decide();
  bool IsNarrow(const std::vector<int>& cpus) const;
  bool IsInside(Place place, Place outer) const;
  void Learn();

  const Topology* topology_;
  std::vector<int> set_;
  std::vector<int> affinity_;
  std::array<int, kVotes> votes_{};  // CPUs; the oldest is overwritten
  size_t votes_cast_ = 0;
  uint64_t last_vote_ns_ = 0;
  Place learned_ = kAnywhere;
  Place place_ = kAnywhere;
  PlacementSource source_ = PlacementSource::kNone;
};

}  // namespace ringdeal
