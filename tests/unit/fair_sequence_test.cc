#include "daemon/dealing/fair_sequence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace ringdeal {
namespace {

std::vector<size_t> Places(const std::vector<double>& weights, size_t longest = 4096) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<Due> dues;
  for (const double weight : weights) dues.push_back({weight / total, false});
  return PlacesFor(dues, longest);
}

// Of all windows, how far the number of any index is off what is due.
double GreatestDeviation(const std::vector<size_t>& places) {
  const std::vector<uint32_t> sequence = Interleave(places);
  double greatest = 0;
  for (size_t index = 0; index < places.size(); ++index) {
    const double due = static_cast<double>(places[index]) / static_cast<double>(sequence.size());
    double deviation = 0, lowest = 0, highest = 0;  // of the windows from the start
    for (const uint32_t each : sequence) {
      deviation += (each == index ? 1 : 0) - due;
      lowest = std::min(lowest, deviation);
      highest = std::max(highest, deviation);
    }
    greatest = std::max(greatest, highest - lowest);
  }
  return greatest;
}

TEST(FairSequence, IsNoLongerThanExactSharesNeed) {
  EXPECT_EQ(Places({1, 1, 1, 1}), (std::vector<size_t>{1, 1, 1, 1}));
  EXPECT_EQ(Places({3, 1, 2}), (std::vector<size_t>{3, 1, 2}));
  EXPECT_EQ(Places({0.7}), (std::vector<size_t>{1}));
  EXPECT_EQ(Places({1 / 3.0, 1 / 12.0, 7 / 12.0}), (std::vector<size_t>{4, 1, 7}));
}

TEST(FairSequence, IsOffByLessThanOnePlaceWhereSharesAreNotExact) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> weights(1 + random() % 20);
    for (double& weight : weights)
      weight = std::ldexp(1 + random() % 1000, -static_cast<int>(random() % 8));
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    const std::vector<size_t> places = Places(weights, 300);
    const size_t length = std::accumulate(places.begin(), places.end(), size_t{0});
    ASSERT_LE(length, 300u);
    for (size_t i = 0; i < weights.size(); ++i) {
      EXPECT_LT(std::abs(static_cast<double>(places[i]) -
                         weights[i] / total * static_cast<double>(length)),
                1);
    }
  }
}

TEST(FairSequence, DoesNotLeaveOutWhoMustComeOnce) {
  const std::vector<Due> dues{{0.999, false}, {0.0007, true}, {0.0003, false}};
  const std::vector<size_t> places = PlacesFor(dues, 100);
  EXPECT_EQ(places[1], 1u);
  EXPECT_EQ(places[2], 0u);
}

TEST(FairSequence, DoesNotCluster) {
  EXPECT_EQ(Interleave(std::vector<size_t>{2, 1, 1}), (std::vector<uint32_t>{0, 1, 0, 2}));
  EXPECT_EQ(Interleave(std::vector<size_t>{1, 1, 1}), (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(Interleave(std::vector<size_t>{4, 0, 4}),
            (std::vector<uint32_t>{0, 2, 0, 2, 0, 2, 0, 2}));
}

// A heavy one beside many light ones of equal share is what simple methods make clusters of.
TEST(FairSequence, HasNoWindowThatIsFarOffWhatIsDue) {
  std::vector<std::vector<size_t>> cases{{64}, {1, 1}, {1, 1000}, {500, 499, 1}};
  cases.push_back(std::vector<size_t>(65, 1));
  cases.back()[7] = 64;
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    std::vector<size_t>& places = cases.emplace_back(1 + random() % 60);
    for (size_t& each : places) each = random() % (random() % 4 == 0 ? 200 : 10);
    places[0] += 1;
  }
  for (const std::vector<size_t>& places : cases) EXPECT_LT(GreatestDeviation(places), 2);
}

}  // namespace
}  // namespace ringdeal
