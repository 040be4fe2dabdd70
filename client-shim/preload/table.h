// What the shim knows of each descriptor number: one word a number, read with one relaxed load on
// the path of every close. Any thread, signal handlers too; no locks.
#pragma once

#include <atomic>
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
static_assert(sizeof(Entry) == 4 && std::atomic<Entry>::is_always_lock_free);

namespace table {

// Numbers from here on are not followed.
inline constexpr int kNumbers = 1 << 20;

extern std::atomic<Entry> entries[kNumbers];

inline bool Follows(int number) { return number >= 0 && number < kNumbers; }

inline Entry Get(int number) {
  return Follows(number) ? entries[number].load(std::memory_order_relaxed) : Entry{};
}

inline Entry Exchange(int number, Entry entry) {
  return Follows(number) ? entries[number].exchange(entry, std::memory_order_acq_rel) : Entry{};
}

inline bool Replace(int number, Entry expected, Entry entry) {
  return Follows(number) && entries[number].compare_exchange_strong(expected, entry);
}

}  // namespace table
}  // namespace ringdeal::shim
