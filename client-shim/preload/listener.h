// A listening socket as this process sees it: one for each socket of the kernel, however many
// numbers it has here. Any thread, signal handlers too; entries live in static storage.
#pragma once

#include <atomic>
#include <cstdint>

#include "client-shim/client/member.h"
#include "client-shim/preload/options.h"
#include "client-shim/preload/table.h"
#include "protocol/socket_address.h"

namespace ringdeal::shim {

struct Listener {
  std::atomic<uint64_t> cookie{0};  // the kernel's identity; 0: this place is free
  client::Member member;
  OptionRecord options;
  char address[kMaxAddressText] = "";

  std::atomic<int> numbers{0};    // open descriptors of this process
  std::atomic<int> additions{0};  // epoll sets of this process that watch one
  // Of the process that made the ready set, and then forked: this one has inherited them.
  std::atomic<bool> watched_before_fork{false};
  std::atomic<int> made_by{0};  // pid of the process that bound it or listened, 0: not known
  std::atomic<bool> listening{false};
  std::atomic<bool> owned{false};        // ringdeald's own, put under the program's number at bind
  std::atomic<bool> maps_ipv4{false};    // the program asked for IPv6, the listener is IPv4
  std::atomic<bool> nonblocking{false};  // what the program believes of O_NONBLOCK
  std::atomic<bool> flag_known{false};   // because it said so, or listened itself
  std::atomic<bool> shut{false};         // shut down by the program; no connection of it is
  std::atomic<bool> paused{false};       // nothing watches it any more, or listen(fd, 0)
  std::atomic<bool> full{false};         // accept found no free number, and none was closed since
  std::atomic<bool> refused{false};      // RINGDEAL_REQUIRE and no ringdeald

  // Others have the socket too: what the program does to it is recorded, and reaches it no more.
  bool IsShared() const { return owned.load() || member.has_door() || member.ready_set() >= 0; }

  // Tells ringdeald whether the program wants connections now.
  void ShowPause() { member.SetPaused(paused.load() || full.load()); }
};

namespace listeners {

inline constexpr int kMax = 32;  // bits of a mask

// Null unless `entry` is a slot.
Listener* Of(Entry entry);
uint8_t IndexOf(const Listener* listener);
Listener* At(int index);

// True as soon as the process has had a slot: what asks about waits can stop at once without.
bool Any();
// One above the highest number that was ever a slot.
int EndOfNumbers();

// True if a listener that is not known yet would find a place.
bool HasRoom();

// Makes `number` a slot of the listener that the kernel says it is, a new one if need be. Null if
// it has no identity, or there are too many listeners.
Listener* Track(int number);

// If an unknown number is a listening socket, makes it a slot; if it is another socket, it is one
// that could still become a listener under our eyes: kNative. Returns its entry.
Entry Recognise(int number);

// `to` became a duplicate of the slot `from`.
void Duplicated(int from, int to);
// A number with this entry was closed; the entry is out of the table. The last one leaves.
void NumberGone(Entry entry);
// True once `number`, which is one of its, listens: it may have been told to by another process.
bool Listens(Listener* listener, int number);
// The shim stays out of this listener from now on.
void LeaveAlone(Listener* listener);

// Puts `ready_set` under every number of the listener.
void Install(void* listener, int ready_set);

// ringdeald asked the worker with this page to say when it became eligible, and it did.
[[gnu::cold]] void PokeFor(const Page* page);

// An accept found no free number: nothing is handed to this process until one may be free.
void NoteFull(Listener* listener);
// A number was closed, or an accept has got one: nothing but a load unless somebody was full.
void NoteRoom();
// Before a wait: a number may have been closed where no hook saw it.
void LookForRoom();

void AfterFork();

}  // namespace listeners
}  // namespace ringdeal::shim
