#include "daemon/dealing/fair_sequence.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>

namespace ringdeal {
namespace {

constexpr double kExact = 1e-6;  // of a share: how far off still counts as exact

// Of what is not negative, and much faster than std::round.
double Rounded(double places) { return static_cast<double>(static_cast<int64_t>(places + 0.5)); }

bool IsExact(std::span<const Due> dues, size_t length) {
  return std::all_of(dues.begin(), dues.end(), [length](const Due& due) {
    const double places = due.share * static_cast<double>(length);
    const double whole = Rounded(places);
    return whole >= 1 && std::abs(places - whole) <= whole * kExact;
  });
}

std::optional<size_t> ExactLength(std::span<const Due> dues, size_t longest) {
  for (size_t length = dues.size(); length <= longest; ++length) {
    if (IsExact(dues, length)) return length;
  }
  return std::nullopt;
}

// How many places off all are together, or more than `limit`.
double Error(std::span<const Due> dues, size_t length, double limit) {
  double error = 0;
  for (const Due& due : dues) {
    const double places = due.share * static_cast<double>(length);
    error += std::abs(places - Rounded(places));
    if (error > limit) break;
  }
  return error;
}

// Of the lengths up to `longest`, as many as there are dues: among so many there is one in which
// all equal dues, and mostly there are such, come out nearly whole.
size_t BestLength(std::span<const Due> dues, size_t longest) {
  size_t best = longest;
  double least = Error(dues, longest, static_cast<double>(longest));
  for (size_t length = longest; length > dues.size() && length + dues.size() > longest; --length) {
    const double error = Error(dues, length, least);
    if (error >= least) continue;
    least = error;
    best = length;
  }
  return best;
}

// Each in turn gets what falls to it up to `length`, in order of what rounding down took from it.
void GiveRest(std::span<const Due> dues, size_t length, std::vector<size_t>* places) {
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < dues.size(); ++i) {
    const double taken = dues[i].share * static_cast<double>(length);
    order.emplace_back(static_cast<double>((*places)[i]) - taken, i);
  }
  std::sort(order.begin(), order.end());
  const size_t given = std::accumulate(places->begin(), places->end(), size_t{0});
  for (size_t i = 0; given + i < length; ++i) ++(*places)[order[i % order.size()].second];
}

// When an index may come next, and when it must at the latest, so that after every place each has
// had less than one more or less than is due. Counts in whole numbers what would be fractions.
struct Turn {
  size_t whole = 0, rest = 0;  // places between its turns: whole + rest / count
  size_t release = 0, release_rest = 0;
  size_t left = 0;  // turns to come
  size_t count = 0;

  void Advance() {
    release += whole;
    release_rest += rest;
    if (release_rest >= count) {
      release_rest -= count;
      ++release;
    }
    --left;
  }
  size_t Deadline() const {
    Turn next = *this;
    next.Advance();
    return next.release_rest > 0 ? next.release : next.release - 1;
  }
};

}  // namespace

std::vector<size_t> PlacesFor(std::span<const Due> dues, size_t longest) {
  const std::optional<size_t> exact = ExactLength(dues, longest);
  const size_t length = exact ? *exact : BestLength(dues, longest);
  std::vector<size_t> places;
  for (const Due& due : dues) {
    const double share = due.share * static_cast<double>(length);
    places.push_back(static_cast<size_t>(exact ? Rounded(share) : std::floor(share)));
  }
  GiveRest(dues, length, &places);
  for (size_t i = 0; i < dues.size(); ++i) {
    if (!dues[i].at_least_once || places[i] > 0) continue;
    --*std::max_element(places.begin(), places.end());
    places[i] = 1;
  }
  return places;
}

// Of those that may come, the one that must come first: such a schedule exists, and this finds it.
std::vector<uint32_t> Interleave(std::span<const size_t> places) {
  const size_t length = std::accumulate(places.begin(), places.end(), size_t{0});
  std::vector<Turn> turns(places.size());
  constexpr uint32_t kNobody = UINT32_MAX;
  std::vector<uint32_t> first_released(length, kNobody);  // by place, linked by `next_released`
  std::vector<uint32_t> next_released(places.size(), kNobody);
  using Ready = std::pair<size_t, uint32_t>;  // deadline, index
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (uint32_t index = 0; index < places.size(); ++index) {
    if (places[index] == 0) continue;
    turns[index] = {.whole = length / places[index],
                    .rest = length % places[index],
                    .left = places[index],
                    .count = places[index]};
    ready.emplace(turns[index].Deadline(), index);
  }
  std::vector<uint32_t> sequence;
  sequence.reserve(length);
  while (sequence.size() < length) {
    const size_t now = sequence.size();
    for (uint32_t index = first_released[now]; index != kNobody; index = next_released[index]) {
      ready.emplace(turns[index].Deadline(), index);
    }
    const uint32_t index = ready.top().second;
    ready.pop();
    sequence.push_back(index);
    Turn& turn = turns[index];
    turn.Advance();
    if (turn.left == 0) continue;
    const size_t release = std::max(turn.release, now + 1);
    next_released[index] = std::exchange(first_released[release], index);
  }
  return sequence;
}

}  // namespace ringdeal
