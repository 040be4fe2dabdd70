// A worker whose process is the test.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "daemon/workers/worker.h"
#include "protocol/descriptor_passing.h"
#include "protocol/handoff_frame.h"

namespace ringdeal {

// The worker's side of a page and a channel, played by the test.
class Process {
 public:
  std::unique_ptr<Worker> Register(WorkerIdentity identity) {
    const Result<UniqueFd> memory = CreatePageMemory();
    page_ = std::move(*MapNewPage(memory->get()));
    Result<Channel> channel = Channel::Create();
    auto worker = std::make_unique<Worker>(
        std::move(identity), std::move(*MapNewPage(memory->get())), std::move(*channel));
    channel_ = worker->channel();
    return worker;
  }

  Page& page() { return *page_.get(); }
  void Accepting() { page().progress.state = WorkerState::kWorker; }

  // Receives one frame. A connection is counted as taken; the kind that came is returned.
  std::optional<FrameKind> Take() {
    HandoffFrame frame;
    auto message =
        ReceiveWithDescriptors(channel_->worker_end(),
                               {reinterpret_cast<std::byte*>(&frame), sizeof(frame)}, MSG_DONTWAIT);
    if (!message) return std::nullopt;
    EXPECT_TRUE(IsWholeFrame(frame, message->bytes));
    if (frame.kind == FrameKind::kDoorbell) {
      ++page().signs.rung;
      return frame.kind;
    }
    ++page().progress.taken;
    return frame.kind;
  }
  void Close() { ++page().progress.closed; }
  bool Asked() { return page().orders.wants_ready != 0; }
  std::shared_ptr<Channel> channel() { return channel_; }

 private:
  MappedPage page_;
  std::shared_ptr<Channel> channel_;
};

}  // namespace ringdeal
