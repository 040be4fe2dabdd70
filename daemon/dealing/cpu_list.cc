#include "daemon/dealing/cpu_list.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "daemon/dealing/topology.h"

namespace ringdeal {
namespace {

std::optional<int> ParseCpu(std::string_view text) {
  int cpu = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (text[0] == '-' || cpu > kGreatestCpu) return std::nullopt;
  return cpu;
}

using Range = std::pair<int, int>;  // the first and the last

// "8" or "0-3".
std::optional<Range> ParseRange(std::string_view text) {
  const size_t dash = text.find('-');
  const std::optional<int> first = ParseCpu(text.substr(0, dash));
  const std::optional<int> last =
      dash == std::string_view::npos ? first : ParseCpu(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return Range(*first, *last);
}

std::vector<int> Merge(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::vector<int> cpus;
  int next = 0;
  for (const auto& [first, last] : ranges) {
    for (next = std::max(next, first); next <= last; ++next) cpus.push_back(next);
  }
  return cpus;
}

}  // namespace

Result<std::vector<int>, std::string> ParseCpuList(std::string_view text) {
  std::vector<Range> ranges;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const auto range = ParseRange(text.substr(begin, end - begin));
    if (!range) {
      return "\"" + std::string(text) + "\" is no list of CPUs, of numbers up to " +
             std::to_string(kGreatestCpu) + ", such as \"0-3,8\"";
    }
    ranges.push_back(*range);
    begin = end + 1;
  }
  return Merge(std::move(ranges));
}

std::string FormatCpuList(std::span<const int> cpus) {
  std::string text;
  for (size_t first = 0; first < cpus.size();) {
    size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[first]);
    if (last > first) text += '-' + std::to_string(cpus[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace ringdeal
