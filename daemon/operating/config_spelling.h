// Words of the operator in messages: quoted, and set right. Pure. Any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ringdeal {

// In single quotes, on one line: other bytes than printable ASCII are shown as '?', a long text is
// cut.
std::string Quote(std::string_view text);

// How many letters to add, drop, change or swap with their neighbour.
size_t EditDistance(std::string_view left, std::string_view right);

// The known word that `word` was probably meant to be, empty if none is near. The first of equals.
std::string_view NearestWord(std::string_view word, std::span<const std::string_view> known);

// "a, b, c"
std::string JoinWords(std::span<const std::string_view> words);

// "; did you mean 'x'?", or "; known: a, b, c" if no known word is near.
std::string SpellingHint(std::string_view word, std::span<const std::string_view> known);

}  // namespace ringdeal
