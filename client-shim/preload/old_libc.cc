// What newer C libraries have under symbol versions that older ones lack, defined here so that the
// shim loads on both. Not exported.
#include <fcntl.h>
#include <sys/stat.h>

#include "client-shim/client/kernel_call_linux.h"

// A function of its own only since glibc 2.33.
extern "C" __attribute__((visibility("hidden"))) int ringdeal_fstat(int, struct stat*) asm("fstat");
int ringdeal_fstat(int descriptor, struct stat* status) {
  return static_cast<int>(ringdeal::kernel::CallWithErrno(SYS_fstat, descriptor, status));
}
