// Which accepted connections are open in this process, so that a page can say how many were closed.
// A connection counts as closed when its last number here is. Any thread, signal handlers too.
#pragma once

#include "client-shim/preload/table.h"
#include "protocol/page.h"

namespace ringdeal::shim::connections {

// `number` came from accept and was counted in `page`; null: in none.
void Accepted(int number, Page* page);

// The kernel gave out `number`: what the table still says of it was closed where no hook saw it.
void NumberIsNew(int number);

// `to` became a duplicate of `from`.
void Duplicated(int from, int to);

// A number with this entry was closed; the entry is out of the table.
void Closed(Entry entry);

// The parent's connections are not counted here.
void AfterFork();

}  // namespace ringdeal::shim::connections
