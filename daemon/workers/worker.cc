#include "daemon/workers/worker.h"

#include <algorithm>
#include <utility>

namespace ringdeal {

Worker::Worker(WorkerIdentity identity, MappedPage page, Channel channel)
    : identity_(std::move(identity)),
      page_(std::move(page)),
      channel_(std::make_shared<Channel>(std::move(channel))) {}

Reading Worker::Read(const StandingRules& rules) {
  if (report_) return ReadReport(rules);
  const WorkerLine line = ReadLine(*page_.get());
  Reading reading;
  const uint64_t taken_before = counts_.taken();
  reading.honest = counts_.Believe(line, given());
  if (counts_.taken() != taken_before) progress_ns_ = rules.now_ns;
  const bool was_suspect = suspect_;
  if (pending() > 0 || untaken_since_ns_ != 0 || suspect_) LookForLife(line, rules.now_ns);
  reading.cleared = was_suspect && !suspect_;
  reading.load = counts_.active() + pending() + BelievedQueued(line);
  const uint64_t without_progress = WithoutProgress(line, progress_ns_, rules.now_ns);
  reading.in_long_pass = without_progress > rules.busy_after_ns;
  reading.standing = StandingOf(line, pending(), without_progress, rules);
  if (full_at_taken_ && *full_at_taken_ != counts_.taken()) full_at_taken_.reset();
  if (suspect_ && reading.standing == Standing::kEligible) reading.standing = Standing::kBusy;
  const bool closed_to_more = draining_ || gone_ || full_at_taken_;
  if (closed_to_more || IsAtMaximum(reading.load, rules)) reading.standing = Standing::kUnavailable;
  return reading;
}

void Worker::LookForLife(const WorkerLine& line, uint64_t now_ns) {
  const Page::Signs& signs = page_->signs;
  SignsOfLife life = {.taken = counts_.taken()};
  // A paused one goes on with its passes and comes for nothing.
  if (line.state != WorkerState::kPaused) {
    life.passes = signs.passes.load(std::memory_order_relaxed);
    life.rung = signs.rung.load(std::memory_order_relaxed);
    life.pass_start = line.pass_start;
  }
  if (untaken_since_ns_ == 0 || life != life_) untaken_since_ns_ = now_ns;
  life_ = life;
  if (pending() == 0) untaken_since_ns_ = 0;
  if (life != life_at_recall_) suspect_ = false;
}

uint64_t Worker::StuckFor(uint64_t now_ns) const {
  return untaken_since_ns_ != 0 && now_ns > untaken_since_ns_ ? now_ns - untaken_since_ns_ : 0;
}

void Worker::BeginRecall() {
  in_recall_ = true;
  life_at_recall_ = life_;
}

void Worker::NoteRecalled() {
  CountRecalled();
  // Life that it showed meanwhile has cleared it already.
  if (in_recall_ && life_ == life_at_recall_) suspect_ = true;
}

void Worker::EndRecall(uint64_t now_ns) {
  in_recall_ = false;
  if (suspect_) (void)Ring(now_ns);
}

Reading Worker::ReadReport(const StandingRules& rules) {
  Reading reading;
  reading.honest = report_->taken <= given();
  const uint64_t pending = given() - std::min(report_->taken, given());
  reading.load = std::min(report_->active, given()) + pending + report_->pending;
  if (full_at_taken_ && *full_at_taken_ != report_->taken) full_at_taken_.reset();
  const bool available = !draining_ && !gone_ && !full_at_taken_ && pending < rules.channel_depth &&
                         !IsAtMaximum(reading.load, rules);
  reading.standing = available ? Standing::kEligible : Standing::kUnavailable;
  return reading;
}

void Worker::SetDraining(bool draining) {
  draining_ = draining;
  page_->orders.mode.store(draining ? PageMode::kDraining : PageMode::kHandoff,
                           std::memory_order_release);
}

bool Worker::MayBeDirect() const {
  return identity_.direct && !identity_.one_at_a_time && !blocks_in_accept() && !report_ &&
         !draining_ && !gone_;
}

bool Worker::IsReadyForDirect() const {
  return MayBeDirect() && !suspect_ &&
         page_->progress.state.load(std::memory_order_acquire) == WorkerState::kWorker &&
         page_->signs.mode_seen.load(std::memory_order_seq_cst) != PageMode::kDirect;
}

void Worker::SetDirect(bool direct) {
  if (draining_) return;
  page_->orders.mode.store(direct ? PageMode::kDirect : PageMode::kHandoff,
                           std::memory_order_seq_cst);
}

bool Worker::IsDirect() const {
  return page_->signs.mode_seen.load(std::memory_order_seq_cst) == PageMode::kDirect;
}

Result<void> Worker::Ring(uint64_t deadline_ns) {
  const bool in_pass = page_->progress.pass_start.load(std::memory_order_seq_cst) != 0;
  const uint64_t passes = page_->signs.passes.load(std::memory_order_seq_cst);
  bell_declined_at_passes_ = passes + (in_pass ? 2 : 1);
  bell_deadline_ns_ = deadline_ns;
  page_->orders.wants_ready.store(1, std::memory_order_seq_cst);
  return channel_->Ring();
}

// A paused one waits for other things, in a wait that does not include the slot.
uint64_t Worker::PassStart() const {
  const WorkerLine line = ReadLine(*page_.get());
  const bool may_be_in_one = line.state == WorkerState::kWorker && line.waiting == 0;
  return may_be_in_one ? line.pass_start : 0;
}

Worker::Answer Worker::AnswerToBell(uint64_t now_ns) const {
  const WorkerLine line = ReadLine(*page_.get());
  if (line.state == WorkerState::kWorker) {
    // A blocking program is on its way into accept: the next connection is for it.
    const bool waits = line.style == AcceptStyle::kEvents || line.waiting > 0;
    return waits || now_ns >= bell_deadline_ns_ ? Answer::kPromoted : Answer::kNone;
  }
  const uint64_t passes = page_->signs.passes.load(std::memory_order_seq_cst);
  const bool declined = passes >= bell_declined_at_passes_ || line.state == WorkerState::kLeft;
  if (declined) return Answer::kDeclined;
  return now_ns >= bell_deadline_ns_ ? Answer::kLate : Answer::kNone;
}

bool Worker::blocks_in_accept() const {
  return page_->progress.style.load(std::memory_order_relaxed) == AcceptStyle::kOneAtATime;
}

namespace {

std::string StateName(WorkerState state, bool draining, bool gone, bool suspect) {
  if (gone) return "left";
  if (draining) return "draining";
  if (suspect && state == WorkerState::kWorker) return "suspect";
  switch (state) {
    case WorkerState::kStarting:
      return "starting";
    case WorkerState::kObserver:
      return "observer";
    case WorkerState::kWorker:
      return "worker";
    case WorkerState::kPaused:
      return "paused";
    case WorkerState::kLeft:
      return "left";
  }
  return "unknown";  // what a hostile worker wrote
}

}  // namespace

bool Worker::HasLeft() const {
  const WorkerState state = page_->progress.state.load(std::memory_order_acquire);
  return draining_ || gone_ || state == WorkerState::kLeft;
}

bool Worker::IsDealable() const {
  const WorkerState state = page_->progress.state.load(std::memory_order_acquire);
  const bool works = state == WorkerState::kWorker || state == WorkerState::kPaused ||
                     (state == WorkerState::kStarting && !identity_.observer);
  return (works || report_) && !draining_ && !gone_;
}

// The page says one more than the number, and 0 for none; a hostile worker anything.
int Worker::last_cpu() const {
  const uint32_t said = page_->signs.cpu.load(std::memory_order_relaxed);
  return said > INT32_MAX ? -1 : static_cast<int>(said) - 1;
}

WorkerSnapshot Worker::Show(Slot slot, uint64_t now_ns) const {
  const WorkerLine line = ReadLine(*page_.get());
  WorkerSnapshot shown;
  shown.slot = slot;
  shown.pid = identity_.pid;
  shown.uid = identity_.uid;
  shown.weight = identity_.weight;
  shown.cpus = seat_cpus_;
  shown.placement = seat_source_;
  shown.handed = handed_;
  shown.recalled = recalled_;
  shown.taken = std::min(taken(), given());
  shown.pending = given() - shown.taken;
  if (report_) {
    shown.state = StateName(WorkerState::kWorker, draining_, gone_, false);
    shown.active = std::min(report_->active, given());
    shown.closed = shown.taken - std::min(shown.active, shown.taken);
    shown.queued = report_->pending;
  } else {
    shown.state = StateName(line.state, draining_, gone_, suspect_);
    shown.one_at_a_time = line.style == AcceptStyle::kOneAtATime;
    shown.active = counts_.active();
    shown.closed = counts_.closed();
    shown.direct = counts_.direct();
    shown.queued = BelievedQueued(line);
    if (line.pass_start != 0 && line.pass_start < now_ns) {
      shown.pass_seconds = static_cast<double>(now_ns - line.pass_start) * 1e-9;
    }
  }
  shown.load = shown.active + shown.pending + shown.queued;
  return shown;
}

}  // namespace ringdeal
