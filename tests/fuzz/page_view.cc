// A worker that writes anything into its page between ringdeald's looks. The input is a row of
// steps: a byte that says what ringdeald does, and for a look the bytes that the worker wrote
// before. Whatever they are, what ringdeald believes adds up and runs in one direction.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "daemon/workers/worker.h"
#include "protocol/socket_pair.h"
#include "tests/fuzz/require.h"

namespace ringdeal {
namespace {

constexpr uint64_t kMost = uint64_t{1} << 48;
constexpr std::array<std::string_view, 8> kStates = {"starting", "observer", "worker",  "paused",
                                                     "draining", "left",     "suspect", "unknown"};
constexpr size_t kWrittenByWorker = sizeof(Page::Progress) + sizeof(Page::Signs);
static_assert(offsetof(Page, signs) == offsetof(Page, progress) + sizeof(Page::Progress));

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), left_(size) {}

  bool empty() const { return left_ == 0; }
  uint8_t Byte() {
    uint8_t byte = 0;
    Bytes(&byte, 1);
    return byte;
  }
  // What is missing at the end stays as it was.
  void Bytes(void* to, size_t size) {
    const size_t bytes = std::min(size, left_);
    std::memcpy(to, data_, bytes);
    data_ += bytes;
    left_ -= bytes;
  }

 private:
  const uint8_t* data_;
  size_t left_;
};

class Rig {
 public:
  Rig() : worker_(Identity(), MakePage(), Channel::Create().value()) {}

  void Step(Input* input) {
    switch (input->Byte() % 8) {
      case 0:
        ++given_;
        return worker_.CountHanded();
      case 1:  // never more than is believed to wait: the recall thread found one in the channel
        if (given_ == 0) return;
        --given_;
        return worker_.NoteRecalled();
      case 2:
        worker_.BeginRecall();
        return worker_.EndRecall(now_);
      case 3:
        draining_ = !draining_;
        return worker_.SetDraining(draining_);
      case 4:
        return worker_.MarkFull();
      default:
        input->Bytes(static_cast<void*>(&worker_.page().progress), kWrittenByWorker);
        now_ += 1'000'000;
        return Look();
    }
  }

 private:
  static WorkerIdentity Identity() {
    WorkerIdentity identity;
    identity.id = 1;
    identity.pid = 1;
    return identity;
  }

  static MappedPage MakePage() {
    auto memory = CreatePageMemory();
    auto page = MapNewPage(memory->get());
    Require(page.ok(), "a page is mapped");
    return std::move(*page);
  }

  void Look() {
    const StandingRules rules{
        .now_ns = now_, .busy_after_ns = 2'000'000, .channel_depth = 8, .max_load = 16};
    const Reading reading = worker_.Read(rules);
    const WorkerSnapshot shown = worker_.Show(0, now_);
    most_given_ = std::max(most_given_, given_);
    Require(shown.taken + shown.pending == given_, "what was given was taken or is pending");
    Require(worker_.taken() >= taken_, "taken only grows");
    Require(shown.closed >= closed_ && shown.direct >= direct_, "closed and direct only grow");
    Require(shown.direct <= kMost, "direct is bounded");
    Require(shown.active == worker_.taken() + shown.direct - shown.closed &&
                shown.active <= most_given_ + kMost,
            "active is what was taken and not closed");
    Require(reading.load == shown.load, "what decides is what is shown");
    Require(
        shown.load == shown.active + shown.pending + shown.queued && shown.queued <= kMostQueued,
        "a load is the sum of its parts");
    Require(reading.standing == Standing::kUnavailable || (!draining_ && reading.load < 16),
            "nothing for one that drains or is at its maximum");
    Require(std::find(kStates.begin(), kStates.end(), shown.state) != kStates.end(), "a state");
    Require(shown.pass_seconds >= 0, "a pass does not end before it began");
    Require(worker_.last_cpu() >= -1, "a CPU or none");
    Require(worker_.StuckFor(now_) <= now_, "nothing waits for longer than there is time");
    (void)worker_.AnswerToBell(now_);
    (void)worker_.PassStart();
    taken_ = worker_.taken();
    closed_ = shown.closed;
    direct_ = shown.direct;
  }

  Worker worker_;
  uint64_t now_ = 1'000'000'000;
  uint64_t given_ = 0;
  uint64_t most_given_ = 0;
  uint64_t taken_ = 0;
  uint64_t closed_ = 0;
  uint64_t direct_ = 0;
  bool draining_ = false;
};

}  // namespace
}  // namespace ringdeal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ringdeal::Input input(data, size);
  ringdeal::Rig rig;
  while (!input.empty()) rig.Step(&input);
  return 0;
}
