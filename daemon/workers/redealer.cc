#include "daemon/workers/redealer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "daemon/accepting/receiving_cpu.h"
#include "daemon/dealing/cpu_list.h"
#include "daemon/dealing/process_affinity.h"
#include "daemon/operating/log.h"
#include "daemon/operating/monotonic_clock.h"

namespace ringdeal {

Redealer::Redealer(EventLoop* loop, std::shared_ptr<const Topology> topology, bool follows_machine,
                   uint64_t receive_half_life_ns)
    : loop_(loop),
      topology_(std::move(topology)),
      follows_machine_(follows_machine),
      usable_cpus_(UsableCpus()),
      half_life_ns_(receive_half_life_ns) {}

void Redealer::Look(const ListenerPtr& listener, uint64_t now_ns) {
  if (!FindPolicy(listener->config().policy)->by_place) return;
  FollowMachine(now_ns);
  Table& table = TableOf(listener, now_ns);
  if (now_ns < table.rests_until_ns) return LookAfterRest(&table, now_ns);
  const Dealables workers = listener->dealer().FindDealable();
  const bool others = Seat(&table, workers, now_ns);
  if (!others && now_ns - table.dealt_ns < kShortestNs) return;
  bool drifted = table.deck == nullptr;
  if (table.shares != nullptr) {  // else the deck has one row
    std::vector<Receiver> receivers = table.shares->Shares(now_ns);
    drifted |= Drift(table.receivers, receivers) > table.shares->WorthwhileDrift(receivers);
    if (drifted) table.receivers = std::move(receivers);
  }
  if (!others && !drifted && !table.moved) return;
  table.dealt_ns = now_ns;
  table.rests_until_ns = now_ns + RestNs(workers.size());
  table.moved = false;
  Redeal(&table, listener.get(), workers, others);
}

void Redealer::LookAt(const ListenerPtr& listener, Slot slot, uint64_t now_ns) {
  const auto table = tables_.find(listener.get());
  if (table != tables_.end() && !table->second.seated.contains(slot)) Look(listener, now_ns);
}

void Redealer::LookAfterRest(Table* table, uint64_t now_ns) {
  if (std::exchange(table->timer_is_armed, true)) return;
  if (table->timer == nullptr) {
    table->timer = loop_->MakeTimer([this, table] {
      table->timer_is_armed = false;
      if (const ListenerPtr still = table->listener.lock()) Look(still, MonotonicNs());
    });
  }
  table->timer->Arm(std::chrono::nanoseconds(table->rests_until_ns - now_ns));
}

Redealer::Table& Redealer::TableOf(const ListenerPtr& listener, uint64_t now_ns) {
  Table& table = tables_[listener.get()];
  if (table.listener.lock() == listener) return table;
  std::erase_if(tables_, [&](const auto& each) {
    return each.first != listener.get() && each.second.listener.expired();
  });
  table = {};
  table.listener = listener;
  CountAnew(&table, listener.get(), now_ns);
  return table;
}

void Redealer::CountAnew(Table* table, Listener* listener, uint64_t now_ns) const {
  if (!TellsReceivingCpu(listener->sockets().front().descriptor.get())) return;
  table->shares = std::make_shared<ReceiveShares>(*topology_, half_life_ns_, now_ns);
  listener->dealer().CountReceived(table->shares);
}

// What the kernel lets us use tells cheaply that CPUs came or went, or that our cgroup has others.
void Redealer::FollowMachine(uint64_t now_ns) {
  if (!follows_machine_ || now_ns - machine_seen_ns_ < kLookAtMachineNs) return;
  machine_seen_ns_ = now_ns;
  std::vector<int> usable = UsableCpus();
  if (usable == usable_cpus_) return;
  usable_cpus_ = std::move(usable);
  Result<Topology, std::string> topology = Topology::Read("");
  if (!topology || *topology == *topology_) return;
  Log(LogLevel::kInfo, "topology_changed",
      {{"cpus", FormatCpuList(topology->objects()[kAnywhere].cpus)}});
  Use(std::make_shared<const Topology>(std::move(*topology)), now_ns);
}

void Redealer::UseTopology(std::shared_ptr<const Topology> topology, bool follows_machine,
                           uint64_t now_ns) {
  follows_machine_ = follows_machine;
  usable_cpus_ = UsableCpus();
  Use(std::move(topology), now_ns);
}

void Redealer::UseHalfLife(uint64_t receive_half_life_ns) {
  half_life_ns_ = receive_half_life_ns;
  for (auto& [place, table] : tables_) {
    if (table.shares != nullptr) table.shares->UseHalfLife(receive_half_life_ns);
  }
}

void Redealer::Use(std::shared_ptr<const Topology> topology, uint64_t now_ns) {
  // Until the last placement has left it.
  const auto before = std::exchange(topology_, std::move(topology));
  for (auto& [place, table] : tables_) {
    for (auto& [slot, seated] : table.seated) seated.placement.Use(topology_.get());
    const ListenerPtr listener = table.listener.lock();
    if (listener == nullptr) continue;
    CountAnew(&table, listener.get(), now_ns);
    table.deck = nullptr;
    table.dealt_ns = 0;
  }
}

bool Redealer::Seat(Table* table, const Dealables& workers, uint64_t now_ns) const {
  auto& seated = table->seated;
  bool others = false;
  for (const Dealer::Dealable& worker : workers) {
    auto found = seated.find(worker.slot);
    if (found == seated.end() || found->second.worker_id != worker.identity->id) {
      found = seated.insert_or_assign(worker.slot, Sit(*worker.identity)).first;
      others = true;
    }
    Seated& now = found->second;
    if (now.taken == worker.taken) continue;
    // Some set their affinity after they joined.
    if (now.taken == 0 && now.placement.source() == PlacementSource::kNone) {
      table->moved |= now.placement.SetAffinity(ProcessAffinity(worker.identity->pid));
    }
    now.taken = worker.taken;
    table->moved |= now.placement.Accepted(worker.last_cpu, now_ns);
  }
  if (seated.size() == workers.size()) return others;
  std::erase_if(seated, [&workers](const auto& each) {
    return !std::ranges::binary_search(workers, each.first, {}, &Dealer::Dealable::slot);
  });
  return true;
}

Redealer::Seated Redealer::Sit(const WorkerIdentity& identity) const {
  Seated seated{.worker_id = identity.id, .taken = 0, .placement = Placement(topology_.get())};
  seated.placement.Set(identity.cpus);
  if (identity.cpus.empty()) seated.placement.SetAffinity(ProcessAffinity(identity.pid));
  return seated;
}

void Redealer::Redeal(Table* table, Listener* listener, const Dealables& workers,
                      bool others) const {
  std::vector<Claim> claims;
  Dealer::DeckUpdate update;
  for (const Dealer::Dealable& worker : workers) {
    const Placement& placement = table->seated.at(worker.slot).placement;
    const bool known = placement.source() != PlacementSource::kNone;
    const Place place = placement.place();
    claims.push_back({worker.slot, static_cast<double>(worker.identity->weight), place});
    update.seats.push_back(
        {.slot = worker.slot, .place = place, .set = placement.source() == PlacementSource::kSet});
    update.shown.push_back({worker.slot,
                            known ? FormatCpuList(topology_->objects()[place].cpus) : "",
                            NameOf(placement.source())});
  }
  Deck deck = Deck::Deal(*topology_, table->receivers, claims);
  const bool same_seats = !others && table->deck != nullptr && table->seats == update.seats;
  if (same_seats && deck == *table->deck) return;
  table->seats = update.seats;
  table->deck = std::make_shared<const Deck>(std::move(deck));
  update.deck = table->deck;
  update.topology = topology_;
  listener->dealer().UseDeck(std::move(update));
}

}  // namespace ringdeal
