// What must be undone when a thread leaves a block, also when it does not come back to its end: it
// is cancelled in a blocking call, or a signal handler jumps out of one. On the stack of its
// thread.
#pragma once

namespace ringdeal::client {

class Cleanup {
 public:
  // `undo` is called once with `argument`, by this thread.
  Cleanup(void (*undo)(void*), void* argument);
  ~Cleanup();
  Cleanup(const Cleanup&) = delete;
  Cleanup& operator=(const Cleanup&) = delete;

 private:
  void (*const undo_)(void*);
  void* const argument_;
  // Of the C library's, which links it into the thread's list where it has one.
  [[maybe_unused]] void* place_[4];
};

}  // namespace ringdeal::client
