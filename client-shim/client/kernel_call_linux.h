// A system call without the C library: no errno, no cancellation, no interposition. Works before
// anything is initialised. Linux on x86-64 and aarch64.
#pragma once

#include <sys/syscall.h>

#include <cerrno>

namespace ringdeal::kernel {

// The kernel's answer: negative errno on failure. The registers are set directly before the
// instruction and nothing is called in between.
inline long Call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
#else
#error "ringdeal knows the system call instruction of x86-64 and aarch64 only"
#endif
}

// The C library's convention: -1 and errno.
inline long WithErrno(long result) {
  if (result < 0 && result > -4096) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}

inline long AsLong(long value) { return value; }
inline long AsLong(const volatile void* value) { return reinterpret_cast<long>(value); }

template <typename... Arguments>
long CallWithErrno(long number, Arguments... arguments) {
  return WithErrno(Call(number, AsLong(arguments)...));
}

}  // namespace ringdeal::kernel
