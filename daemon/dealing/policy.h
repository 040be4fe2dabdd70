// The policies: pure choices of a worker for a connection. Any thread.
//
// To add one: write its rank and, if it looks at more than the rank, its pick; add a line to the
// table in policy.cc and to docs/configuration.md.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "daemon/dealing/worker_view.h"

namespace ringdeal {

class View;

// The CPU on which the kernel received a connection, -1 if it did not say.
using ReceivingCpu = int;

struct Policy {
  const char* name;
  // Looks at where workers sit and connections are received.
  bool by_place;
  // Deals by the rows of a deck, as far as the guard lets it.
  bool by_rows;
  // The order in which the view keeps the workers.
  Rank (*rank)(const WorkerView& worker);
  // The worker for the next connection that is received on `cpu`, from those that the view holds
  // eligible; nothing if there is none. Must not look at more than a bounded number of workers.
  std::optional<Slot> (*pick)(const View& view, ReceivingCpu cpu);
};

std::span<const Policy> Policies();
std::vector<std::string_view> PolicyNames();

// Nothing if there is no policy of that name.
const Policy* FindPolicy(std::string_view name);

}  // namespace ringdeal
