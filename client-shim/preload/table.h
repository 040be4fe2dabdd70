// What the shim knows of each descriptor number: one word a number, read with one relaxed load on
// the path of every close. Any thread, signal handlers too; no locks.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace ringdeal::shim {

enum class Kind : uint8_t {
  kUnknown,   // nothing: the program's business
  kNative,    // a listener, or a socket that may become one, from which the shim stays out
  kSlot,      // a listening descriptor; `index` is its listener
  kAccepted,  // a connection that a page counts; `index` is the page, `extra` its group of
              // duplicates
  kEpoll,     // an epoll set that watches slots; `index` is its mark
  kPrivate,   // the shim's own
};

struct Entry {
  Kind kind = Kind::kUnknown;
  uint8_t index = 0;
  uint16_t extra = 0;  // of a slot: the number's generation, another for each use of the number

  friend bool operator==(const Entry&, const Entry&) = default;
};
static_assert(sizeof(Entry) == sizeof(uint32_t));
static_assert(std::atomic_ref<uint32_t>::is_always_lock_free);

namespace table {

// Numbers from here on are not followed.
inline constexpr int kNumbers = 1 << 20;

extern uint32_t entries[kNumbers];
extern std::atomic<int> end;  // one above the highest number that ever had an entry

inline std::atomic_ref<uint32_t> Word(int number) {
  return std::atomic_ref<uint32_t>(entries[number]);
}

inline bool Follows(int number) { return number >= 0 && number < kNumbers; }

inline void RaiseEnd(int number) {
  int seen = end.load(std::memory_order_relaxed);
  while (number >= seen && !end.compare_exchange_weak(seen, number + 1)) {
  }
}

inline Entry Get(int number) {
  if (!Follows(number)) return Entry{};
  return std::bit_cast<Entry>(Word(number).load(std::memory_order_relaxed));
}

inline Entry Exchange(int number, Entry entry) {
  if (!Follows(number)) return Entry{};
  if (entry.kind != Kind::kUnknown) RaiseEnd(number);
  const auto word = std::bit_cast<uint32_t>(entry);
  return std::bit_cast<Entry>(Word(number).exchange(word, std::memory_order_acq_rel));
}

inline bool Replace(int number, Entry expected, Entry entry) {
  if (entry.kind != Kind::kUnknown && Follows(number)) RaiseEnd(number);
  auto word = std::bit_cast<uint32_t>(expected);
  return Follows(number) &&
         Word(number).compare_exchange_strong(word, std::bit_cast<uint32_t>(entry));
}

}  // namespace table
}  // namespace ringdeal::shim
