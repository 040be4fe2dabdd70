#include "client-shim/preload/connections.h"

#include "client-shim/client/page_writer.h"
#include "client-shim/preload/listener.h"
#include "client-shim/preload/slots.h"

namespace ringdeal::shim::connections {
namespace {

constexpr int kPages = 255;
constexpr int kGroups = 4096;

// Pages by index. A page stays mapped as long as the process lives (4 KiB for each time that it
// joined), since a thread may be about to write to it; its index is given again once the worker has
// left and all of its connections are closed. Each place is taken by compare-and-swap.
constinit std::atomic<Page*> pages[kPages] = {};
// A mark for places whose page is the parent's: entries that a child inherits still point there.
Page* const kParents = reinterpret_cast<Page*>(1);

// Open numbers of each group of duplicates. 0: the group is free.
constinit std::atomic<uint16_t> groups[kGroups] = {};

bool IsDone(const Page* page) {
  const auto& progress = page->progress;
  return progress.state.load() == WorkerState::kLeft &&
         progress.taken.load() + progress.direct.load() == progress.closed.load();
}

int IndexOf(Page* page) {
  for (int i = 0; i < kPages; ++i) {
    if (pages[i].load(std::memory_order_relaxed) == page) return i;
  }
  for (int i = 0; i < kPages; ++i) {
    Page* old = pages[i].load();
    if (old == kParents || (old != nullptr && !IsDone(old))) continue;
    if (pages[i].compare_exchange_strong(old, page)) return i;
  }
  return -1;
}

void CountClosed(Page* page) {
  if (client::CountClosed(page, 1)) listeners::PokeFor(page);
}

uint16_t StartGroup() {
  for (uint16_t group = 1; group < kGroups; ++group) {
    uint16_t expected = 0;
    if (groups[group].compare_exchange_strong(expected, 1)) return group;
  }
  return 0;
}

}  // namespace

void Accepted(int number, Page* page) {
  Entry entry;
  const int index = page != nullptr ? IndexOf(page) : -1;
  if (index >= 0 && table::Follows(number)) {
    entry = {Kind::kAccepted, static_cast<uint8_t>(index), 0};
  } else if (page != nullptr) {
    CountClosed(page);  // its end will not be seen
  }
  EntryGone(table::Exchange(number, entry));
}

void NumberIsNew(int number) {
  const Entry entry = table::Get(number);
  if (entry.kind == Kind::kUnknown || entry.kind == Kind::kPrivate) return;
  if (table::Replace(number, entry, Entry{})) EntryGone(entry);
}

void Duplicated(int from, int to) {
  Entry entry = table::Get(from);
  if (entry.kind != Kind::kAccepted) return;
  if (entry.extra == 0) {
    Entry grouped = entry;
    grouped.extra = StartGroup();
    // Without a group the duplicate is not followed, and the first number's close counts.
    if (grouped.extra == 0) return;
    if (!table::Replace(from, entry, grouped)) {
      groups[grouped.extra].store(0);
      return;
    }
    entry = grouped;
  }
  groups[entry.extra].fetch_add(1);
  table::Exchange(to, entry);
}

void Closed(Entry entry) {
  if (entry.kind != Kind::kAccepted) return;
  if (entry.extra != 0 && groups[entry.extra].fetch_sub(1) != 1) return;
  Page* page = pages[entry.index].load(std::memory_order_relaxed);
  if (page != nullptr && page != kParents) CountClosed(page);
}

void AfterFork() {
  for (std::atomic<Page*>& page : pages) {
    if (page.load(std::memory_order_relaxed) != nullptr) page.store(kParents);
  }
}

}  // namespace ringdeal::shim::connections
