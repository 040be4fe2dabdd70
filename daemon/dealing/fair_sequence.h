// Sequences in which everybody comes as often as is due, and no more at once than must be. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ringdeal {

// A part of a sequence's places that somebody should have.
struct Due {
  double share = 0;            // those of all add up to 1
  bool at_least_once = false;  // however small the share
};

// How many places each gets: by the shortest sequence of at most `longest` places in which all come
// out exact, else by about as many places to less than one (largest remainder first).
// REQUIRES: dues.size() <= longest.
std::vector<size_t> PlacesFor(std::span<const Due> dues, size_t longest);

// Indexes of `places`, each as often as it says. In any window of the endless repetition each index
// comes within two of what is due by its length.
std::vector<uint32_t> Interleave(std::span<const size_t> places);

}  // namespace ringdeal
