#include "client-shim/client/cleanup.h"

// What pthread_cleanup_push of C was before it became a block with a landing pad: needs no unwinder
// of ours, and the GNU C library's longjmp calls it too. Older ones have it in libpthread: without
// that, nobody is cancelled. The oldest version of the symbols, as for dlsym.
extern "C" {
void ringdeal_cleanup_push(void* place, void (*undo)(void*),
                           void* argument) asm("_pthread_cleanup_push") __attribute__((weak));
void ringdeal_cleanup_pop(void* place, int execute) asm("_pthread_cleanup_pop")
    __attribute__((weak));
}
#if defined(__x86_64__)
__asm__(".symver _pthread_cleanup_push, _pthread_cleanup_push@GLIBC_2.2.5");
__asm__(".symver _pthread_cleanup_pop, _pthread_cleanup_pop@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver _pthread_cleanup_push, _pthread_cleanup_push@GLIBC_2.17");
__asm__(".symver _pthread_cleanup_pop, _pthread_cleanup_pop@GLIBC_2.17");
#endif

namespace ringdeal::client {

Cleanup::Cleanup(void (*undo)(void*), void* argument) : undo_(undo), argument_(argument) {
  if (&ringdeal_cleanup_push != nullptr) ringdeal_cleanup_push(place_, undo, argument);
}

Cleanup::~Cleanup() {
  if (&ringdeal_cleanup_pop != nullptr) ringdeal_cleanup_pop(place_, 0);
  undo_(argument_);
}

}  // namespace ringdeal::client
