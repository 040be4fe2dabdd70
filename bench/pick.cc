// What a pick costs: by each policy over ringdeald's view, by a plain scan of all workers' lines,
// and of it the step in a deck's row alone; and what dealing a large deck costs beside a loop of
// known work. Prints nanoseconds of alternating rounds as JSON; scripts/bench makes ratios of them.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/processes.h"
#include "daemon/dealing/deck.h"
#include "daemon/dealing/process_affinity.h"
#include "daemon/dealing/view.h"
#include "daemon/workers/worker_line.h"

namespace ringdeal::bench {
namespace {

constexpr char kMachine[] = "synthetic:pack:4 l3:4 core:8 pu:2";
constexpr int kCpus = 256;
constexpr size_t kLinesPerPick = 4;  // as the dealer has it
constexpr size_t kOpenPerWorker = 8;

using Figures =
    std::map<std::string, std::vector<double>>;  // ns, by what was measured; of each round

// Keeps the compiler from leaving out what nobody looks at.
volatile uint64_t sink;

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

double Median(std::vector<uint64_t>* values) {
  const auto middle = values->begin() + static_cast<std::ptrdiff_t>(values->size() / 2);
  std::nth_element(values->begin(), middle, values->end());
  return static_cast<double>(*middle);
}

uint64_t Next(uint64_t* random) {
  *random ^= *random << 13;
  *random ^= *random >> 7;
  *random ^= *random << 17;
  return *random;
}

// Whose CPU wrote the lines that a pick reads. Processors fetch a line that another one has written
// from its cache, which costs more than all else that is done with it.
enum class Writers : uint8_t {
  kOwnCpu,    // the least that a pick can cost
  kOtherCpu,  // those of the connection before: who took it, and who closed one
  kAllOther,  // each worker went through a pass since the pick before
};

// A thread on another CPU, that does one piece of work at a time.
class OtherCpu {
 public:
  explicit OtherCpu(int cpu) : thread_([this, cpu] { Serve(cpu); }) {}
  ~OtherCpu() {
    Do({});
    thread_.join();
  }

  // Returns when it is done. Nothing: the end.
  void Do(std::function<void()> work) {
    work_ = std::move(work);
    has_work_.store(true, std::memory_order_release);
    while (has_work_.load(std::memory_order_acquire)) {
    }
  }

 private:
  void Serve(int cpu) {
    (void)MoveToCpu(cpu);
    for (bool ended = false; !ended;) {
      while (!has_work_.load(std::memory_order_acquire)) {
      }
      ended = !work_;
      if (!ended) work_();
      has_work_.store(false, std::memory_order_release);
    }
  }

  std::function<void()> work_;
  std::atomic<bool> has_work_{false};  // whose turn it is to touch work_
  std::thread thread_;
};

// Workers that take what they are given at once and close, for each connection, one of the open
// ones. Each has a page of its own, as in life: a scan touches as many.
class Workers {
 public:
  // `other` is null if all is written by the picking CPU.
  Workers(size_t count, Writers writers, OtherCpu* other)
      : writers_(writers),
        other_(other),
        pages_(count),
        believed_(count),
        handed_(count),
        last_(count) {
    for (Slot slot = 0; slot < count; ++slot) {
      pages_[slot] = std::make_unique<Page>();
      pages_[slot]->progress.state = WorkerState::kWorker;
      pages_[slot]->progress.style = AcceptStyle::kEvents;
    }
    for (size_t i = 0; i < count * kOpenPerWorker; ++i) {
      open_.push_back(static_cast<Slot>(i % count));
      ++handed_[i % count];
      ++pages_[i % count]->progress.taken;
    }
  }

  uint64_t ReadLoad(Slot slot) {
    const WorkerLine line = ReadLine(*pages_[slot]);
    believed_[slot].Believe(line, handed_[slot]);
    return handed_[slot] - believed_[slot].taken() + believed_[slot].active() +
           BelievedQueued(line);
  }

  void Give(Slot slot) {
    ++handed_[slot];
    last_[slot] = ++deals_;
    Slot& closing = open_[Next(&random_) % open_.size()];
    const auto write = [this, slot, closing] { Write(slot, closing); };
    writers_ == Writers::kOwnCpu ? write() : other_->Do(write);
    closing = slot;
  }

  // The least loaded, by looking at all; ties to the one dealt to longest ago.
  Slot Scan() {
    Slot best = 0;
    Rank least{.first = UINT64_MAX};
    for (Slot slot = 0; slot < pages_.size(); ++slot) {
      const Rank rank{.first = (ReadLoad(slot) + 1) * kRankUnit, .last_dealt = last_[slot]};
      if (rank < least) {
        least = rank;
        best = slot;
      }
    }
    return best;
  }

  size_t size() const { return pages_.size(); }

 private:
  void Write(Slot taking, Slot closing) {
    pages_[taking]->progress.taken.fetch_add(1, std::memory_order_relaxed);
    pages_[closing]->progress.closed.fetch_add(1, std::memory_order_relaxed);
    if (writers_ != Writers::kAllOther) return;
    for (const auto& page : pages_) page->progress.pass_start.store(0, std::memory_order_relaxed);
  }

  const Writers writers_;
  OtherCpu* const other_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<BelievedCounts> believed_;
  std::vector<uint64_t> handed_;
  std::vector<uint64_t> last_;
  std::vector<Slot> open_;
  uint64_t deals_ = 0;
  uint64_t random_ = 88172645463325252;
};

// What the dealer does to choose, without its lock, its clock and the sending.
Slot ChooseByView(View* view, Workers* workers, size_t lines, ReceivingCpu cpu) {
  const auto refresh = [&](Slot slot) {
    view->Update(slot, workers->ReadLoad(slot), Standing::kEligible);
  };
  const bool all_read = workers->size() <= lines;
  for (size_t i = 0; i < std::min(lines, workers->size()); ++i) refresh(*view->NextToRead());
  const std::optional<Slot> next = view->NextOfRow(cpu);
  if (next && !all_read) refresh(*next);
  const Slot slot = *view->Pick(cpu);
  if (slot != next && !all_read) refresh(slot);
  view->Dealt(slot, cpu);
  return slot;
}

// The median of single picks, without what reading the clock takes: other work of the machine's
// comes in few of them.
double NsOfOne(size_t picks, const std::function<Slot(ReceivingCpu)>& pick,
               const std::function<void(Slot)>& give, const std::vector<ReceivingCpu>& cpus) {
  uint64_t random = 1;
  std::vector<uint64_t> clock;
  std::vector<uint64_t> times;
  for (size_t i = 0; i < picks; ++i) {
    const ReceivingCpu cpu = cpus[Next(&random) % cpus.size()];
    const uint64_t before = NowNs();
    const uint64_t begin = NowNs();
    const Slot slot = pick(cpu);
    const uint64_t end = NowNs();
    give(slot);
    clock.push_back(begin - before);
    times.push_back(end - begin);
  }
  return std::max(Median(&times) - Median(&clock), 1.0);
}

struct Setting {
  std::shared_ptr<const Topology> topology;
  std::vector<ReceivingCpu> cpus;
  std::vector<Seat> seats;
  std::vector<Claim> claims;
  std::shared_ptr<const Deck> deck;
};

// Workers and receiving CPUs all over the machine, most workers on CPUs that receive nothing.
// `uneven`: shares of which no sequence is short.
Setting MakeSetting(const std::shared_ptr<const Topology>& topology, size_t workers, int receiving,
                    bool uneven) {
  Setting setting{topology, {}, {}, {}, nullptr};
  uint64_t random = 7;
  std::vector<Receiver> receivers;
  for (int i = 0; i < receiving; ++i) {
    setting.cpus.push_back(i * (kCpus / receiving));
    const double share = uneven ? 1 + static_cast<double>(Next(&random) % 1000) / 1000 : 1;
    receivers.push_back({setting.cpus.back(), share});
  }
  for (Slot slot = 0; slot < workers; ++slot) {
    const Place place = *topology->PlaceOf(static_cast<int>(slot * 37 % kCpus));
    setting.seats.push_back({slot, place, true});
    setting.claims.push_back({slot, 1, place});
  }
  setting.deck = std::make_shared<Deck>(Deck::Deal(*topology, receivers, setting.claims));
  return setting;
}

// Too short for a clock: many of them are timed together.
double NsOfRowStep(const Setting& setting, size_t steps) {
  const Deck& deck = *setting.deck;
  std::vector<size_t> cursors(deck.rows().size());
  uint64_t random = 1;
  const uint64_t begin = NowNs();
  for (size_t i = 0; i < steps; ++i) {
    const size_t row = deck.RowOf(setting.cpus[Next(&random) % setting.cpus.size()]);
    const std::vector<Slot>& sequence = deck.rows()[row].sequence;
    sink = sequence[cursors[row]];
    if (++cursors[row] == sequence.size()) cursors[row] = 0;
  }
  return static_cast<double>(NowNs() - begin) / static_cast<double>(steps);
}

double NsOfView(const Setting& setting, const Policy& policy, size_t lines, size_t picks,
                Writers writers, OtherCpu* other) {
  Workers workers(setting.claims.size(), writers, other);
  View view(&policy);
  for (Slot slot = 0; slot < workers.size(); ++slot) {
    view.Add(slot, 1);
    view.Update(slot, workers.ReadLoad(slot), Standing::kEligible);
  }
  if (policy.by_place) {
    std::shared_ptr<const Deck> deck = setting.deck;
    Seats seats(setting.topology, setting.seats);
    view.SetDeck(&deck, &seats);
  }
  const auto pick = [&](ReceivingCpu cpu) { return ChooseByView(&view, &workers, lines, cpu); };
  const auto give = [&](Slot slot) { workers.Give(slot); };
  NsOfOne(picks / 10, pick, give, setting.cpus);
  return NsOfOne(picks, pick, give, setting.cpus);
}

Figures MeasurePicks(const Setting& setting, int rounds, Writers writers, OtherCpu* other) {
  const size_t count = setting.claims.size();
  const size_t picks = count > 256 ? 2'000 : 10'000;
  Figures figures;
  for (int round = 0; round < rounds; ++round) {
    Workers scanned(count, writers, other);
    const auto scan = [&](ReceivingCpu) { return scanned.Scan(); };
    const auto give_scanned = [&](Slot slot) { scanned.Give(slot); };
    NsOfOne(picks / 10, scan, give_scanned, setting.cpus);
    figures["scan"].push_back(NsOfOne(picks, scan, give_scanned, setting.cpus));
    for (const Policy& policy : Policies()) {
      figures[policy.name].push_back(
          NsOfView(setting, policy, kLinesPerPick, picks, writers, other));
    }
    figures["ring-deal-all-lines"].push_back(
        NsOfView(setting, *FindPolicy("ring-deal"), count, picks, writers, other));
    figures["row"].push_back(NsOfRowStep(setting, picks));
  }
  return figures;
}

// A million steps that each need the one before: what a processor does at its own pace.
double NsOfCalibration() {
  uint64_t random = 1;
  const uint64_t begin = NowNs();
  for (int i = 0; i < 1'000'000; ++i) Next(&random);
  sink = random;
  return static_cast<double>(NowNs() - begin);
}

Figures MeasureDeal(const std::shared_ptr<const Topology>& topology, int rounds) {
  Figures figures;
  for (int round = 0; round < rounds; ++round) {
    figures["calibration"].push_back(NsOfCalibration());
    const uint64_t begin = NowNs();
    const Setting setting = MakeSetting(topology, 1024, kCpus, true);
    figures["deal"].push_back(static_cast<double>(NowNs() - begin));
    sink = setting.deck->rows().size();
  }
  return figures;
}

void Print(const std::string& name, const Figures& figures, bool last) {
  std::printf("\"%s\": {", name.c_str());
  const char* separator = "";
  for (const auto& [what, rounds] : figures) {
    std::printf("%s\"%s\": [", std::exchange(separator, ", "), what.c_str());
    for (size_t i = 0; i < rounds.size(); ++i) std::printf("%s%.1f", i > 0 ? ", " : "", rounds[i]);
    std::printf("]");
  }
  std::printf("}%s\n", last ? "" : ",");
}

// The same while another CPU writes the lines, as in life. Nothing on a machine that has one.
void PrintWritten(const std::shared_ptr<const Topology>& topology, int rounds) {
  const std::vector<int> cpus = UsableCpus();
  if (cpus.size() < 2 || !MoveToCpu(cpus[0])) return;
  OtherCpu other(cpus[1]);
  for (const size_t workers : {2, 4, 8, 16, 32, 64, 256, 1024}) {
    const Setting setting = MakeSetting(topology, workers, 16, false);
    for (const auto& [writers, what] :
         {std::pair(Writers::kOtherCpu, "two lines"), std::pair(Writers::kAllOther, "all lines")}) {
      Print(std::to_string(workers) + " workers, " + what + " written by another CPU",
            MeasurePicks(setting, rounds, writers, &other), false);
    }
  }
}

int Run(int rounds) {
  auto read = Topology::Read(kMachine);
  if (!read) {
    std::fprintf(stderr, "pick: %s\n", read.error().c_str());
    return 1;
  }
  const auto topology = std::make_shared<const Topology>(std::move(read).value());
  std::printf("{");
  for (const size_t workers : {2, 8, 64, 256, 1024}) {
    for (const int receiving : {1, 16, 256}) {
      const Setting setting = MakeSetting(topology, workers, receiving, false);
      Print(std::to_string(workers) + " workers, receiving CPUs: " + std::to_string(receiving),
            MeasurePicks(setting, rounds, Writers::kOwnCpu, nullptr), false);
    }
  }
  PrintWritten(topology, rounds);
  Print("deal of 1024 workers, receiving CPUs: 256", MeasureDeal(topology, rounds), true);
  std::printf("}\n");
  return 0;
}

}  // namespace
}  // namespace ringdeal::bench

int main(int argc, char** argv) {
  if (argc != 2 || std::atoi(argv[1]) < 2) {
    std::fprintf(stderr, "Usage: pick ROUNDS    (2 or more)\n");
    return 2;
  }
  return ringdeal::bench::Run(std::atoi(argv[1]));
}
