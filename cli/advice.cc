#include "cli/advice.h"

#include <fnmatch.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cli/advice_text.h"

namespace ringdeal {
namespace {

using nlohmann::json;
using Texts = std::vector<std::string>;

constexpr size_t kMostWords = 3;  // an interpreter, its script or "-m", its module

Advice AdviceIn(const json& entry) {
  Advice advice{.id = entry.at("id"),
                .title = entry.at("title"),
                .names = entry.at("names"),
                .libraries = entry.value("libraries", Texts()),
                .must = {},
                .set = entry.value("set", Texts()),
                .does_not_work = entry.value("does_not_work", Texts())};
  for (const json& must : entry.value("must", json::array())) {
    advice.must.push_back({.text = must.at("text"), .unless = must.value("unless", Texts())});
  }
  return advice;
}

// The text is part of this program and tested: it is always understood.
const std::vector<Advice>& AllAdvice() {
  static const std::vector<Advice> all = [] {
    std::vector<Advice> advice;
    for (const json& entry : json::parse(kAdviceText)) advice.push_back(AdviceIn(entry));
    return advice;
  }();
  return all;
}

bool MatchesOne(const Texts& patterns, const Texts& names) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return std::ranges::any_of(names, [&](const std::string& name) {
      return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    });
  });
}

// "/usr/sbin/nginx" is nginx, and so is "nginx: worker process", which it calls itself.
std::string NameIn(const std::string& word) {
  const std::string first = word.substr(0, word.find_first_of(" :"));
  return first.substr(first.rfind('/') + 1);
}

}  // namespace

const Advice* AdviceFor(const std::vector<std::string>& words,
                        const std::vector<std::string>& files) {
  Texts names;
  for (const std::string& word : words) {
    if (names.size() < kMostWords && !word.starts_with("-")) names.push_back(NameIn(word));
  }
  for (const Advice& advice : AllAdvice()) {
    if (!MatchesOne(advice.names, names)) continue;
    if (advice.libraries.empty() || MatchesOne(advice.libraries, files)) return &advice;
  }
  return nullptr;
}

}  // namespace ringdeal
