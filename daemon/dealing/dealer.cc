#include "daemon/dealing/dealer.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "daemon/operating/failpoint.h"

namespace ringdeal {
namespace {

// Lines read in rotation at each pick, beside the chosen one's: how the view learns that loads
// fell.
constexpr size_t kLinesPerPick = 4;
// How often a pick looks again when the chosen worker's line was worse than the view believed.
constexpr int kMostLooks = 8;
// So long before what is kept is dropped, workers that are being drained may have it too.
constexpr uint64_t kLastResortNs = 1'000'000'000;

constexpr const char* kRecallReasonNames[kRecallReasons] = {"left", "drained", "overdue",
                                                            "unanswered"};

}  // namespace

Dealer::Dealer(const DealerSettings& settings)
    : settings_(settings),
      view_(settings.policy, settings.rules),
      observers_(&workers_),
      untaken_(&workers_, &view_, settings.recall_after_ns),
      direct_(&workers_, &view_) {}

Dealer::~Dealer() {
  for (Connection& each : kept_) CloseWithReset(std::move(each));
}

void Dealer::Use(const DealerSettings& settings) {
  const std::lock_guard lock(mutex_);
  settings_ = settings;
  view_.UsePolicy(settings.policy, settings.rules);
  untaken_.UseRecallAfter(settings.recall_after_ns);
  if (!settings.may_be_direct) direct_.End();
  if (settings.policy->by_place) return;
  received_ = nullptr;
  wants_receiving_cpu_.store(false, std::memory_order_relaxed);
}

std::optional<Slot> Dealer::Add(std::unique_ptr<Worker> worker, uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  const auto free = std::find(taken_slots_.begin(), taken_slots_.end(), false);
  const Slot slot = static_cast<Slot>(free - taken_slots_.begin());
  if (slot >= settings_.workers) return std::nullopt;
  if (free == taken_slots_.end()) {
    taken_slots_.push_back(false);
    workers_.emplace_back();
  }
  taken_slots_[slot] = true;
  direct_.End();
  NoteWorker();
  const WorkerIdentity& identity = worker->identity();
  worker->page().header.slot = slot;
  if (holding_) worker->page().orders.wants_ready.store(1, std::memory_order_seq_cst);
  // Those that are there begin before the one that comes, also if nothing was dealt so far.
  if (settings_.slow_start_ns != 0) RefreshAll(now_ns);
  workers_[slot] = std::move(worker);
  view_.Add(slot, identity.weight);
  ++joined_;
  if (!identity.observer) return slot;
  observers_.Add(slot);
  if (identity.forked && !identity.one_at_a_time) observers_.Ring(slot, now_ns);
  return slot;
}

std::unique_ptr<Worker> Dealer::Detach(Slot slot) {
  const std::lock_guard lock(mutex_);
  if (At(slot) == nullptr) return nullptr;
  observers_.Remove(slot);
  untaken_.Remove(slot);
  direct_.Forget(slot);
  if (owed_ == slot) owed_.reset();
  // Whoever has the slot next is not gone.
  gone_.erase(std::remove(gone_.begin(), gone_.end(), slot), gone_.end());
  liars_.erase(std::remove(liars_.begin(), liars_.end(), slot), liars_.end());
  view_.Remove(slot);
  slow_start_.Forget(slot);
  ++left_;
  workers_[slot]->SetDraining(true);
  return std::move(workers_[slot]);
}

void Dealer::Release(Slot slot) {
  const std::lock_guard lock(mutex_);
  taken_slots_[slot] = false;
}

void Dealer::Report(Slot slot, const WorkerReport& report) {
  const std::lock_guard lock(mutex_);
  if (Worker* worker = At(slot)) worker->Report(report);
}

ToEmpty Dealer::SetDraining(Slot slot, bool draining) {
  const std::lock_guard lock(mutex_);
  Worker* worker = At(slot);
  if (worker == nullptr) return {};
  direct_.End();
  if (!draining) NoteWorker();
  worker->SetDraining(draining);
  if (draining) view_.Update(slot, view_.worker(slot).load, Standing::kUnavailable);
  return {worker->channel(), slot, worker->identity().id, RecallReason::kDrained};
}

bool Dealer::HasEligible(uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  RefreshAll(now_ns);
  return !IsAtMaximum() && view_.FirstEligible();
}

bool Dealer::EndDrainsIfNeeded(uint64_t now_ns, uint64_t deadline_ns, bool waits) {
  const std::lock_guard lock(mutex_);
  const auto is_draining = [this](Slot slot) { return workers_[slot]->draining(); };
  const auto is_another = [this](Slot slot) { return workers_[slot]->IsDealable(); };
  const bool needed = waits || !kept_.empty();
  if (!needed || std::ranges::none_of(view_.members(), is_draining)) return false;
  const bool is_late = now_ns + kLastResortNs >= deadline_ns;
  if (!is_late && std::ranges::any_of(view_.members(), is_another)) return false;
  for (const Slot slot : view_.members()) {
    if (is_draining(slot)) workers_[slot]->SetDraining(false);
  }
  NoteWorker();
  return true;
}

std::vector<Dealer::Dealable> Dealer::FindDealable() const {
  const std::lock_guard lock(mutex_);
  std::vector<Dealable> found;
  for (Slot slot = 0; slot < workers_.size(); ++slot) {
    const Worker* worker = At(slot);
    if (worker == nullptr || !worker->IsDealable()) continue;
    found.push_back({slot, &worker->identity(), worker->taken(), worker->last_cpu()});
  }
  return found;
}

bool Dealer::DecideDirect(bool one_socket) {
  const std::lock_guard lock(mutex_);
  return direct_.Decide(settings_.may_be_direct && one_socket);
}

bool Dealer::LeaveToWorker() {
  const std::lock_guard lock(mutex_);
  return LeaveToWorkerLocked();
}

bool Dealer::LeaveToWorkerLocked() {
  if (!kept_.empty() || !direct_.IsFollowed()) return false;
  LeaveHold();  // whoever asked before: it shall not wake us with every wait
  return true;
}

void Dealer::UseDeck(DeckUpdate update) {
  Seats seats(std::move(update.topology), std::move(update.seats));
  const std::lock_guard lock(mutex_);  // what was before is freed after it
  view_.SetDeck(&update.deck, &seats);
  for (ShownSeat& each : update.shown) {
    workers_[each.slot]->SetSeat(std::move(each.cpus), each.source);
  }
  ++decks_dealt_;
}

void Dealer::CountReceived(std::shared_ptr<ReceiveShares> shares) {
  const std::lock_guard lock(mutex_);
  received_ = std::move(shares);
  wants_receiving_cpu_.store(received_ != nullptr, std::memory_order_relaxed);
}

std::optional<Slot> Dealer::FindByPid(pid_t pid) const {
  const std::lock_guard lock(mutex_);
  for (const Slot slot : view_.members()) {
    if (workers_[slot]->identity().pid == pid) return slot;
  }
  return std::nullopt;
}

std::optional<Slot> Dealer::FindByChannel(const Channel* channel) const {
  const std::lock_guard lock(mutex_);
  for (const Slot slot : view_.members()) {
    if (workers_[slot]->channel().get() == channel) return slot;
  }
  return std::nullopt;
}

std::vector<Slot> Dealer::TakeLiars() {
  const std::lock_guard lock(mutex_);
  return std::exchange(liars_, {});
}

std::vector<Slot> Dealer::TakeGone() {
  const std::lock_guard lock(mutex_);
  return std::exchange(gone_, {});
}

std::vector<ToEmpty> Dealer::TakeUnansweredBells() {
  const std::lock_guard lock(mutex_);
  return observers_.TakeUnanswered();
}

bool Dealer::HasErrands() const {
  const std::lock_guard lock(mutex_);
  return !gone_.empty() || !liars_.empty() || resets_begun_ || observers_.has_unanswered() ||
         WantsWatchLocked();
}

bool Dealer::WantsWatchOfUntaken() const {
  const std::lock_guard lock(mutex_);
  return WantsWatchLocked();
}

void Dealer::BeginWatchOfUntaken() {
  const std::lock_guard lock(mutex_);
  untaken_is_watched_ = true;
}

void Dealer::ReadUntaken(uint64_t now_ns) {
  for (const Slot slot : untaken_.slots()) Refresh(slot, now_ns);
  untaken_.ForgetTaken();
}

bool Dealer::HasUntaken(uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  ReadUntaken(now_ns);
  return !untaken_.empty();
}

Dealer::Overdue Dealer::TakeOverdue(uint64_t now_ns, bool may_end) {
  const std::lock_guard lock(mutex_);
  Overdue overdue;
  // Without picks nobody else reads whether others became free.
  if (!untaken_.empty()) RefreshSome(now_ns);
  ReadUntaken(now_ns);
  for (const auto& [slot, unless_runnable] : untaken_.FindOverdue(now_ns)) {
    Worker& worker = *workers_[slot];
    worker.BeginRecall();
    OverdueWorker& found = overdue.workers.emplace_back();
    found.what = {worker.channel(), slot, worker.identity().id, RecallReason::kOverdue};
    found.pid = worker.identity().pid;
    found.unless_runnable = unless_runnable;
    found.waited_ns = worker.StuckFor(now_ns);
  }
  overdue.anything_waits = std::exchange(sent_since_look_, false) || !untaken_.empty();
  untaken_is_watched_ = overdue.anything_waits || !may_end;
  return overdue;
}

void Dealer::EndRecall(Slot slot, uint64_t worker_id, uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (Worker* worker = Find(slot, worker_id)) worker->EndRecall(now_ns);
}

Dealer::StuckLook Dealer::TakeStuck(uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  StuckLook look{.workers = {}, .next_ns = now_ns + settings_.stuck_after_ns};
  for (const Slot slot : view_.members()) {
    Worker& worker = *workers_[slot];
    const uint64_t begun = worker.PassStart();
    if (begun == 0 || begun > now_ns) continue;
    const uint64_t due = begun + settings_.stuck_after_ns;
    if (due > now_ns) {
      look.next_ns = std::min(look.next_ns, due);
    } else if (worker.MarkStuck(begun)) {
      ++stuck_;
      look.workers.push_back({slot, worker.identity().pid, now_ns - begun});
    }
  }
  return look;
}

Worker* Dealer::Find(Slot slot, uint64_t worker_id) const {
  Worker* worker = At(slot);
  return worker != nullptr && worker->identity().id == worker_id ? worker : nullptr;
}

Dealer::Preparation Dealer::Prepare(uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (LeaveToWorkerLocked()) return {Readiness::kLeave, 0};
  observers_.RingSilent(now_ns);
  if (const uint64_t until = observers_.Await(now_ns)) return {Readiness::kAwait, until};
  if (!owed_) owed_ = observers_.TakeOwed();
  while (true) {
    const Outcome outcome = DealKept(now_ns);
    if (outcome == Outcome::kRefused) return {Readiness::kPause, 0};
    if (outcome == Outcome::kDelivered && AnyAvailable()) break;
    if (FindAnyAfterAsking(now_ns)) continue;
    if (!FoundWorkerless(now_ns) || !settings_.reset_without_worker) return {Readiness::kHold, 0};
    if (!MustReset(now_ns)) {
      return {Readiness::kHold, *workerless_since_ns_ + settings_.hold_timeout_ns};
    }
    for (; !kept_.empty(); kept_.pop_front()) ResetLocked(std::move(kept_.front()));
    return {Readiness::kReset, 0};
  }
  if (holding_) LeaveHold();
  return {Readiness::kReady, 0};
}

// An observer is one to wait for: it may fork a worker when it is rung.
bool Dealer::FoundWorkerless(uint64_t now_ns) {
  const auto is_there = [this](Slot slot) { return !workers_[slot]->HasLeft(); };
  const std::vector<Slot>& members = view_.members();
  if (std::any_of(members.begin(), members.end(), is_there)) {
    NoteWorker();
  } else if (!workerless_since_ns_) {
    workerless_since_ns_ = now_ns;
  }
  return workerless_since_ns_.has_value();
}

// A worker that comes ends it under the same lock: nothing is reset that it could have had.
bool Dealer::MustReset(uint64_t now_ns) const {
  return settings_.reset_without_worker && workerless_since_ns_ &&
         now_ns >= *workerless_since_ns_ + settings_.hold_timeout_ns;
}

void Dealer::ResetLocked(Connection connection) {
  CloseWithReset(std::move(connection));
  ++resets_;
  if (!std::exchange(resetting_, true)) resets_begun_ = true;
}

void Dealer::NoteWorker() {
  workerless_since_ns_.reset();
  resetting_ = false;
}

bool Dealer::TakeResetsBegun() {
  const std::lock_guard lock(mutex_);
  return std::exchange(resets_begun_, false);
}

void Dealer::NoteBellsTakenOut(uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (holding_) observers_.RingAgain(now_ns);
}

void Dealer::NoteAnswers(uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  observers_.Await(now_ns);
}

Dealer::Outcome Dealer::DealKept(uint64_t now_ns) {
  while (!kept_.empty()) {
    const Outcome outcome = DealLocked(kept_.front(), now_ns);
    if (outcome != Outcome::kDelivered) return outcome;
    kept_.pop_front();
  }
  return Outcome::kDelivered;
}

// Asks every worker to poke when it becomes eligible, then looks again. No wake-up is lost: a
// worker stores what makes it eligible and then reads wants_ready; here wants_ready is stored and
// then the lines are read, both sequentially consistent.
bool Dealer::FindAnyAfterAsking(uint64_t now_ns) {
  RefreshAll(now_ns);
  if (AnyAvailable()) return true;
  if (!holding_) observers_.RingDeclined(now_ns);
  holding_ = true;
  for (const Slot slot : view_.members()) {
    workers_[slot]->page().orders.wants_ready.store(1, std::memory_order_seq_cst);
  }
  RINGDEAL_FAILPOINT("hold-asked");
  RefreshAll(now_ns);
  return AnyAvailable();
}

void Dealer::LeaveHold() {
  holding_ = false;
  observers_.RetractDeclined();
  for (const Slot slot : view_.members()) {
    workers_[slot]->page().orders.wants_ready.store(0, std::memory_order_relaxed);
  }
}

Dealer::Outcome Dealer::Deal(Connection connection, uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (received_ != nullptr) received_->Count(connection.cpu);
  const Outcome outcome = DealLocked(connection, now_ns);
  if (outcome == Outcome::kDelivered) return outcome;
  if (outcome == Outcome::kKept && MustReset(now_ns)) {
    ResetLocked(std::move(connection));
    return Outcome::kReset;
  }
  kept_.push_back(std::move(connection));
  return outcome;
}

Dealer::Outcome Dealer::DealLocked(Connection& connection, uint64_t now_ns,
                                   std::optional<Slot> but_for) {
  // Each failed send makes one worker unavailable, so this ends.
  for (size_t attempt = 0; attempt <= view_.size(); ++attempt) {
    const std::optional<Slot> slot = Choose(connection.cpu, now_ns);
    // Back in the channel that is being emptied it would be found again, and so for ever.
    if (!slot || slot == but_for) return Outcome::kKept;
    const Result<void> sent = Send(*slot, connection);
    Refresh(*slot, now_ns);
    if (sent) return Outcome::kDelivered;
    if (!GiveUpOn(*slot, sent.error().number, now_ns)) return Outcome::kRefused;
  }
  return Outcome::kKept;
}

Result<void> Dealer::Send(Slot slot, Connection& connection) {
  Worker& worker = *workers_[slot];
  worker.CountHanded();
  RINGDEAL_FAILPOINT("handed-not-sent");
  // The next one, of the next worker, is likely to be wanted as this one is.
  const bool nonblocking = worker.WantsNonBlocking();
  wants_nonblocking_.store(nonblocking, std::memory_order_relaxed);
  const Result<void> sent = worker.channel()->Send(&connection, nonblocking);
  RINGDEAL_FAILPOINT("sent");
  if (!sent) {
    worker.CountRecalled();
    return sent;
  }
  view_.Dealt(slot, connection.cpu);
  ++delivered_;
  untaken_.Add(slot);
  sent_since_look_ = true;
  if (owed_ == slot) owed_.reset();
  return sent;
}

// Returns false if the failure is not the worker's, so that another would fail as well.
bool Dealer::GiveUpOn(Slot slot, int error_number, uint64_t now_ns) {
  Worker& worker = *workers_[slot];
  switch (error_number) {
    case ETOOMANYREFS:
    case ENOMEM:
    case EMFILE:
      ++refused_;
      return false;
    case ENOBUFS:
      // An empty channel is not full: the machine has no memory, and no connection taken from it
      // would ever tell that there is room again.
      if (!worker.HasPending()) {
        ++refused_;
        return false;
      }
      [[fallthrough]];
    case EAGAIN:
    case EMSGSIZE:  // how macOS says that a channel is full
      ++found_full_;
      worker.MarkFull();
      break;
    default:  // the worker shut its end down
      ++found_gone_;
      worker.MarkGone();
      gone_.push_back(slot);
      break;
  }
  if (owed_ == slot) owed_.reset();
  Refresh(slot, now_ns);
  return true;
}

std::optional<Slot> Dealer::Choose(ReceivingCpu cpu, uint64_t now_ns) {
  RefreshSome(now_ns);
  if (IsAtMaximum()) return std::nullopt;
  if (const auto slot = ChooseOwed(now_ns)) return slot;
  if (const auto slot = ChooseEligible(cpu, now_ns)) return slot;
  return ChooseBusy(now_ns);
}

std::optional<Slot> Dealer::ChooseOwed(uint64_t now_ns) {
  if (!owed_) return std::nullopt;
  Refresh(*owed_, now_ns);
  if (view_.worker(*owed_).standing == Standing::kEligible) return owed_;
  owed_.reset();
  return std::nullopt;
}

// The view proposes, a fresh look at the proposed one's line decides. The row's next one is looked
// at first, so that the guard turns nobody away for connections that are closed by now.
std::optional<Slot> Dealer::ChooseEligible(ReceivingCpu cpu, uint64_t now_ns) {
  const bool all_read = view_.size() <= kLinesPerPick;  // just now, all of them
  const std::optional<Slot> next = view_.NextOfRow(cpu);
  if (next && !all_read && At(*next) != nullptr) Refresh(*next, now_ns);
  // One that is found not to be eligible is proposed no more, so this ends.
  int worse = 0;
  while (const auto slot = view_.Pick(cpu)) {
    if (slot == next || all_read) return slot;
    const Rank believed = view_.RankOf(*slot);
    Refresh(*slot, now_ns);
    if (view_.worker(*slot).standing != Standing::kEligible) continue;
    if (view_.RankOf(*slot) <= believed || ++worse == kMostLooks) return slot;
  }
  return std::nullopt;
}

std::optional<Slot> Dealer::ChooseBusy(uint64_t now_ns) {
  while (const auto slot = view_.FirstBusy()) {
    Refresh(*slot, now_ns);
    if (view_.worker(*slot).standing != Standing::kUnavailable) return slot;
  }
  return std::nullopt;
}

StandingRules Dealer::RulesAt(uint64_t now_ns) const {
  return {.now_ns = now_ns,
          .busy_after_ns = settings_.busy_after_ns,
          .channel_depth = settings_.channel_depth,
          .max_load = settings_.max_active_per_worker};
}

void Dealer::Refresh(Slot slot, uint64_t now_ns) {
  const Reading reading = workers_[slot]->Read(RulesAt(now_ns));
  if (!reading.honest) {
    ++clamped_;
    if (workers_[slot]->MarkLiar()) liars_.push_back(slot);
  }
  // Its bell asked for the poke that came, or was not needed. A hold asks every worker.
  if (reading.cleared && !holding_) {
    workers_[slot]->page().orders.wants_ready.store(0, std::memory_order_relaxed);
  }
  LookAtPart(slot, reading, now_ns);
  if (reading.in_long_pass && workers_[slot]->MarkLongPass(workers_[slot]->PassStart())) {
    ++long_passes_;
  }
  view_.Update(slot, reading.load, reading.standing, reading.in_long_pass);
}

void Dealer::LookAtPart(Slot slot, const Reading& reading, uint64_t now_ns) {
  if (!slow_start_.HasBegun(slot)) {
    if (reading.standing == Standing::kUnavailable) return;
    slow_start_.Begin(slot, {reading.load, view_.DueLoad(slot)}, settings_.slow_start_ns, now_ns);
  }
  if (settings_.slow_start_ns != 0 && workers_[slot]->IsDealable()) slow_start_.See(slot);
  view_.SetPart(slot, slow_start_.PartOf(slot, settings_.slow_start_ns, now_ns));
}

void Dealer::RefreshSome(uint64_t now_ns) {
  for (size_t i = 0; i < std::min(kLinesPerPick, view_.size()); ++i) {
    Refresh(*view_.NextToRead(), now_ns);
    if (view_.IsRoundOver()) slow_start_.EndRound(settings_.slow_start_ns, now_ns);
  }
}

void Dealer::RefreshAll(uint64_t now_ns) {
  for (const Slot slot : view_.members()) Refresh(slot, now_ns);
}

void Dealer::DealAgain(Connection connection, const ToEmpty& from, uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  std::optional<Slot> emptied;
  if (Worker* worker = Find(from.slot, from.worker_id)) {
    worker->NoteRecalled();
    emptied = from.slot;
  }
  ++redealt_;
  ++recalls_[static_cast<size_t>(from.reason)];
  if (kept_.empty() && DealLocked(connection, now_ns, emptied) == Outcome::kDelivered) return;
  kept_.push_back(std::move(connection));
}

size_t Dealer::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

// Of the lines as they were read last.
double Dealer::FreePercent() const {
  const auto left_of = [](uint64_t load, uint64_t limit) {
    if (limit == 0) return 1.0;
    return 1.0 - static_cast<double>(std::min(load, limit)) / static_cast<double>(limit);
  };
  double all = 0;
  double free = 0;
  for (const Slot slot : view_.members()) {
    if (!workers_[slot]->IsDealable() && !workers_[slot]->draining()) continue;
    const WorkerView& worker = view_.worker(slot);
    all += worker.weight;
    if (worker.standing != Standing::kEligible) continue;
    free += worker.weight * left_of(worker.load, settings_.max_active_per_worker);
  }
  if (all == 0) return 0;
  return 100 * std::min(free / all, left_of(view_.load(), settings_.max_active));
}

void Dealer::Show(ListenerSnapshot* snapshot, uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  RefreshAll(now_ns);
  snapshot->policy = settings_.policy->name;
  snapshot->kept = kept_.size();
  snapshot->redealt = redealt_;
  snapshot->workers_joined = joined_;
  snapshot->workers_left = left_;
  snapshot->counters_clamped = clamped_;
  snapshot->workers_stuck = stuck_;
  snapshot->long_passes = long_passes_;
  for (size_t reason = 0; reason < kRecallReasons; ++reason) {
    snapshot->recalls[kRecallReasonNames[reason]] = recalls_[reason];
  }
  snapshot->no_worker_resets = resets_;
  snapshot->handoffs = {{"delivered", delivered_},
                        {"full", found_full_},
                        {"gone", found_gone_},
                        {"refused", refused_}};
  snapshot->decks_dealt = decks_dealt_;
  snapshot->free_percent = FreePercent();
  view_.Show(snapshot);
  for (Slot slot = 0; slot < workers_.size(); ++slot) {
    if (workers_[slot] == nullptr) continue;
    WorkerSnapshot& shown = snapshot->workers.emplace_back(workers_[slot]->Show(slot, now_ns));
    shown.weight_part = static_cast<double>(view_.worker(slot).part) / kWholePart;
  }
}

}  // namespace ringdeal
