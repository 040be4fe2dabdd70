#include "daemon/operating/config_spelling.h"

#include <algorithm>
#include <vector>

namespace ringdeal {

std::string Quote(std::string_view text) {
  constexpr size_t kMaxShown = 80;
  std::string shown = "'";
  for (const char byte : text.substr(0, kMaxShown)) {
    shown += byte >= 0x20 && byte < 0x7f ? byte : '?';
  }
  if (text.size() > kMaxShown) shown += "...";
  return shown + "'";
}

size_t EditDistance(std::string_view left, std::string_view right) {
  // Three rows of the table: two back (for a swap), one back, and the one being filled.
  std::vector<size_t> before(right.size() + 1), previous(right.size() + 1), row(right.size() + 1);
  for (size_t j = 0; j <= right.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= left.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      const size_t changed = left[i - 1] == right[j - 1] ? 0 : 1;
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + changed});
      const bool swapped =
          i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, row);
  }
  return previous[right.size()];
}

std::string_view NearestWord(std::string_view word, std::span<const std::string_view> known) {
  constexpr size_t kMaxWord = 64;  // a longer one is no slip of the finger, and the work is squared
  if (word.size() > kMaxWord) return {};
  std::string_view nearest;
  size_t least = 0;
  for (const std::string_view candidate : known) {
    const size_t distance = EditDistance(word, candidate);
    // A third of the letters wrong, rounded up, is still the same word; more is another one.
    if (distance > (candidate.size() + 2) / 3) continue;
    if (!nearest.empty() && distance >= least) continue;
    nearest = candidate;
    least = distance;
  }
  return nearest;
}

std::string JoinWords(std::span<const std::string_view> words) {
  std::string joined;
  for (const std::string_view word : words) {
    if (!joined.empty()) joined += ", ";
    joined += word;
  }
  return joined;
}

std::string SpellingHint(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view nearest = NearestWord(word, known);
  if (nearest.empty()) return "; known: " + JoinWords(known);
  return "; did you mean " + Quote(nearest) + "?";
}

}  // namespace ringdeal
