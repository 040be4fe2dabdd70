// What a pick costs: by each policy over ringdeald's view, by a plain scan of all workers' lines,
// and of it the step in a deck's row alone; and what dealing a large deck costs beside a loop of
// known work. Prints nanoseconds of alternating rounds as JSON; scripts/bench makes ratios of them.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/dealing/deck.h"
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

uint64_t Next(uint64_t* random) {
  *random ^= *random << 13;
  *random ^= *random >> 7;
  *random ^= *random << 17;
  return *random;
}

// Workers that take what they are given at once and close, for each connection, one of the open
// ones. Each has a page of its own, as in life: a scan touches as many. Other than in life no other
// CPU has just written to it, which makes the scan look better the more lines it reads.
class Workers {
 public:
  explicit Workers(size_t count) : pages_(count), believed_(count), handed_(count), last_(count) {
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
    pages_[slot]->progress.taken.fetch_add(1, std::memory_order_relaxed);
    pages_[closing]->progress.closed.fetch_add(1, std::memory_order_relaxed);
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
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<BelievedCounts> believed_;
  std::vector<uint64_t> handed_;
  std::vector<uint64_t> last_;
  std::vector<Slot> open_;
  uint64_t deals_ = 0;
  uint64_t random_ = 88172645463325252;
};

// What the dealer does to choose, without its lock, its clock and the sending.
Slot ChooseByView(View* view, Workers* workers, ReceivingCpu cpu) {
  const auto refresh = [&](Slot slot) {
    view->Update(slot, workers->ReadLoad(slot), Standing::kEligible);
  };
  for (size_t i = 0; i < std::min(kLinesPerPick, workers->size()); ++i)
    refresh(*view->NextToRead());
  if (const std::optional<Slot> next = view->NextOfRow(cpu)) refresh(*next);
  const Slot slot = *view->Pick(cpu);
  refresh(slot);
  view->Dealt(slot, cpu);
  return slot;
}

double NsPerPick(size_t picks, const std::function<void(ReceivingCpu)>& pick,
                 const std::vector<ReceivingCpu>& cpus) {
  uint64_t random = 1;
  const uint64_t begin = NowNs();
  for (size_t i = 0; i < picks; ++i) pick(cpus[Next(&random) % cpus.size()]);
  return static_cast<double>(NowNs() - begin) / static_cast<double>(picks);
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

void MeasureRows(const Setting& setting, size_t picks, std::vector<double>* figures) {
  const Deck& deck = *setting.deck;
  std::vector<size_t> cursors(deck.rows().size());
  const auto step = [&](ReceivingCpu cpu) {
    const size_t row = deck.RowOf(cpu);
    const std::vector<Slot>& sequence = deck.rows()[row].sequence;
    sink = sequence[cursors[row]];
    if (++cursors[row] == sequence.size()) cursors[row] = 0;
  };
  figures->push_back(NsPerPick(picks, step, setting.cpus));
}

Figures MeasurePicks(const Setting& setting, int rounds) {
  const size_t count = setting.claims.size();
  const size_t picks = count > 256 ? 2'000 : 10'000;
  Figures figures;
  for (int round = 0; round < rounds; ++round) {
    Workers scanned(count);
    const auto scan = [&](ReceivingCpu) { scanned.Give(scanned.Scan()); };
    NsPerPick(picks / 10, scan, setting.cpus);
    figures["scan"].push_back(NsPerPick(picks, scan, setting.cpus));
    for (const Policy& policy : Policies()) {
      Workers workers(count);
      View view(&policy);
      for (Slot slot = 0; slot < count; ++slot) {
        view.Add(slot, 1);
        view.Update(slot, workers.ReadLoad(slot), Standing::kEligible);
      }
      std::shared_ptr<const Deck> deck = setting.deck;
      Seats seats(setting.topology, setting.seats);
      view.SetDeck(&deck, &seats);
      const auto pick = [&](ReceivingCpu cpu) { workers.Give(ChooseByView(&view, &workers, cpu)); };
      NsPerPick(picks / 10, pick, setting.cpus);
      figures[policy.name].push_back(NsPerPick(picks, pick, setting.cpus));
    }
    MeasureRows(setting, picks, &figures["row"]);
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
            MeasurePicks(setting, rounds), false);
    }
  }
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
