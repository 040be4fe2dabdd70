// The socket pair on which ringdeald hands descriptors to one worker, both ends: ringdeald is its
// only sender and its only drainer. Sending is guarded by the dealer's lock; only a recall thread
// receives, since a worker can make that block for ever (rule 4 of the design).
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/dealing/connection.h"
#include "protocol/result.h"

namespace ringdeal {

class Channel {
 public:
  static Result<Channel> Create();

  // Neither blocks. The connection stays the caller's: close it once it is sent. It is made to
  // block if it must and does not.
  Result<void> Send(Connection* connection, bool may_be_nonblocking);
  Result<void> Ring();

  // The next connection that was sent and not taken, doorbells passed over; nothing if the channel
  // is empty. Recall thread only: does not wait for a message, yet may never return.
  Result<std::optional<Connection>> TakeBack();

  // To be passed to the worker, and to nobody else.
  int worker_end() const { return receiving_.get(); }

 private:
  UniqueFd sending_;
  // The worker's end once more. It keeps what is queued alive when the worker dies.
  UniqueFd receiving_;
  uint64_t sequence_ = 0;
};

}  // namespace ringdeal
