// The first of some slots by rank, however many there are and whatever was done to them.
#include "daemon/dealing/rank_heap.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>

#include <gtest/gtest.h>

namespace ringdeal {
namespace {

// Beside a map that is looked through as a whole. `most` on both sides of what counts as a few.
void DoAtRandom(Slot most, unsigned seed) {
  std::mt19937 random(seed);
  RankHeap heap;
  std::map<Slot, Rank> all;
  for (uint64_t step = 0; step < 20000; ++step) {
    const Slot slot = static_cast<Slot>(random() % most);
    // Phases in which it grows, and in which it empties.
    if (random() % 8 < (step / 200 % 2 == 0 ? 1 : 6)) {
      heap.Remove(slot);
      all.erase(slot);
    } else {
      const Rank rank{.first = random() % 8,
                      .in_long_pass = random() % 4 == 0,
                      .turn = random() % 2,
                      .last_dealt = step};
      heap.Put(slot, rank);
      all[slot] = rank;
    }
    ASSERT_EQ(heap.size(), all.size());
    ASSERT_EQ(heap.Contains(slot), all.contains(slot));
    const auto least = std::min_element(
        all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    // Now and then nobody asks, so that changes come together.
    if (random() % 3 == 0) continue;
    const std::optional<Slot> first = heap.First();
    ASSERT_EQ(first.has_value(), !all.empty());
    if (first) {
      ASSERT_EQ(*first, least->first) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(RankHeapTest, FindsTheFirstOfAFewAndOfMany) {
  for (const Slot most : {1, 2, 15, 16, 17, 18, 40, 64, 300}) {
    for (unsigned seed = 0; seed < 4; ++seed) DoAtRandom(most, seed);
  }
}

}  // namespace
}  // namespace ringdeal
