#include "client-shim/preload/real_calls.h"

#include <dlfcn.h>
#include <fcntl.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <type_traits>

#include "client-shim/client/kernel_call_linux.h"

// The oldest version of the symbol, so that the shim loads on older C libraries, where it lives in
// a libdl of its own.
#if defined(__x86_64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
#endif

namespace ringdeal::shim::real {
namespace {

constexpr size_t kKernelSignalSetBytes = 8;

// What the kernel takes for pselect's mask.
struct SelectMask {
  const sigset_t* mask;
  size_t size;
};

template <long Number, typename Function>
struct Bare;

template <long Number, typename R, typename... Arguments>
struct Bare<Number, R(Arguments...)> {
  static R Call(Arguments... arguments) {
    return static_cast<R>(kernel::CallWithErrno(Number, arguments...));
  }
};

// Those that not every architecture has under this name, or not with these arguments.

int BareDup2(int from, int to) {
  if (from != to) return static_cast<int>(kernel::CallWithErrno(SYS_dup3, from, to, 0));
  return kernel::CallWithErrno(SYS_fcntl, from, 1 /* F_GETFD */) < 0 ? -1 : to;
}

int BareEpollPwait(int set, epoll_event* events, int count, int timeout, const sigset_t* mask) {
  return static_cast<int>(kernel::CallWithErrno(SYS_epoll_pwait, set, events, count, timeout, mask,
                                                kKernelSignalSetBytes));
}

int BareEpollWait(int set, epoll_event* events, int count, int timeout) {
  return BareEpollPwait(set, events, count, timeout, nullptr);
}

int BareEpollPwait2(int set, epoll_event* events, int count, const timespec* timeout,
                    const sigset_t* mask) {
  constexpr long kEpollPwait2 = 441;  // Linux 5.11, on every architecture
  return static_cast<int>(kernel::CallWithErrno(kEpollPwait2, set, events, count, timeout, mask,
                                                kKernelSignalSetBytes));
}

int BarePpoll(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  timespec left = timeout != nullptr ? *timeout : timespec{};
  return static_cast<int>(kernel::CallWithErrno(SYS_ppoll, descriptors, static_cast<long>(count),
                                                timeout != nullptr ? &left : nullptr, mask,
                                                kKernelSignalSetBytes));
}

int BarePoll(pollfd* descriptors, nfds_t count, int timeout_ms) {
  const timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
  return BarePpoll(descriptors, count, timeout_ms < 0 ? nullptr : &timeout, nullptr);
}

int BarePselect(int count, fd_set* in, fd_set* out, fd_set* except, const timespec* timeout,
                const sigset_t* mask) {
  timespec left = timeout != nullptr ? *timeout : timespec{};
  const SelectMask with_size = {mask, kKernelSignalSetBytes};
  return static_cast<int>(kernel::CallWithErrno(SYS_pselect6, count, in, out, except,
                                                timeout != nullptr ? &left : nullptr, &with_size));
}

int BareSelect(int count, fd_set* in, fd_set* out, fd_set* except, timeval* timeout) {
  timespec left = {};
  if (timeout != nullptr) left = {timeout->tv_sec, timeout->tv_usec * 1000};
  return BarePselect(count, in, out, except, timeout != nullptr ? &left : nullptr, nullptr);
}

int BareCloseRange(unsigned first, unsigned last, int flags) {
  constexpr long kCloseRange = 436;  // Linux 5.9, on every architecture
  return static_cast<int>(kernel::CallWithErrno(kCloseRange, first, last, flags));
}

int BareFcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  return static_cast<int>(kernel::CallWithErrno(SYS_fcntl, descriptor, command, argument));
}

int BareIoctl(int descriptor, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  return static_cast<int>(
      kernel::CallWithErrno(SYS_ioctl, descriptor, static_cast<long>(request), argument));
}

int BareFexecve(int program, char* const* arguments, char* const* environment) {
  return static_cast<int>(
      kernel::CallWithErrno(SYS_execveat, program, "", arguments, environment, AT_EMPTY_PATH));
}

template <typename Function>
void ResolveOne(const char* name, Function*& target) {
  // RTLD_NEXT starts behind this library, so it never finds the shim's own.
  void* found = dlsym(RTLD_NEXT, name);
  if (found != nullptr) target = reinterpret_cast<Function*>(found);
}

// Those that are more than a system call: looked up by the first call, if that comes before the
// constructor.
#define RINGDEAL_LATE(result, name, parameters, arguments, failure) \
  result Late_##name parameters {                                   \
    ResolveOne(#name, real::name);                                  \
    if (real::name != &Late_##name) return real::name arguments;    \
    errno = ENOSYS;                                                 \
    return failure;                                                 \
  }

RINGDEAL_LATE(int, execvpe, (const char* file, char* const* a, char* const* e), (file, a, e), -1)
RINGDEAL_LATE(int, posix_spawn,
              (pid_t * pid, const char* program, const posix_spawn_file_actions_t* actions,
               const posix_spawnattr_t* attributes, char* const* a, char* const* e),
              (pid, program, actions, attributes, a, e), ENOSYS)
RINGDEAL_LATE(int, posix_spawnp,
              (pid_t * pid, const char* program, const posix_spawn_file_actions_t* actions,
               const posix_spawnattr_t* attributes, char* const* a, char* const* e),
              (pid, program, actions, attributes, a, e), ENOSYS)
RINGDEAL_LATE(int, fclose, (FILE * stream), (stream), EOF)
RINGDEAL_LATE(FILE*, freopen, (const char* path, const char* mode, FILE* stream),
              (path, mode, stream), nullptr)
RINGDEAL_LATE(FILE*, freopen64, (const char* path, const char* mode, FILE* stream),
              (path, mode, stream), nullptr)
#undef RINGDEAL_LATE

}  // namespace

#define RINGDEAL_AS_THE_KERNEL(name)    \
  constinit decltype(real::name) name = \
      &Bare<SYS_##name, std::remove_pointer_t<decltype(real::name)>>::Call;

RINGDEAL_AS_THE_KERNEL(bind)
RINGDEAL_AS_THE_KERNEL(listen)
RINGDEAL_AS_THE_KERNEL(accept)
RINGDEAL_AS_THE_KERNEL(accept4)
RINGDEAL_AS_THE_KERNEL(connect)
RINGDEAL_AS_THE_KERNEL(shutdown)
RINGDEAL_AS_THE_KERNEL(getsockname)
RINGDEAL_AS_THE_KERNEL(getpeername)
RINGDEAL_AS_THE_KERNEL(getsockopt)
RINGDEAL_AS_THE_KERNEL(setsockopt)
RINGDEAL_AS_THE_KERNEL(close)
RINGDEAL_AS_THE_KERNEL(dup)
RINGDEAL_AS_THE_KERNEL(dup3)
RINGDEAL_AS_THE_KERNEL(epoll_ctl)
RINGDEAL_AS_THE_KERNEL(execve)
RINGDEAL_AS_THE_KERNEL(execveat)
RINGDEAL_AS_THE_KERNEL(sendmsg)
RINGDEAL_AS_THE_KERNEL(sendmmsg)
#undef RINGDEAL_AS_THE_KERNEL

constinit decltype(real::close_range) close_range = &BareCloseRange;
constinit decltype(real::dup2) dup2 = &BareDup2;
constinit decltype(real::epoll_wait) epoll_wait = &BareEpollWait;
constinit decltype(real::epoll_pwait) epoll_pwait = &BareEpollPwait;
constinit decltype(real::epoll_pwait2) epoll_pwait2 = &BareEpollPwait2;
constinit decltype(real::poll) poll = &BarePoll;
constinit decltype(real::ppoll) ppoll = &BarePpoll;
constinit decltype(real::select) select = &BareSelect;
constinit decltype(real::pselect) pselect = &BarePselect;
constinit decltype(real::fexecve) fexecve = &BareFexecve;
constinit decltype(real::execvpe) execvpe = &Late_execvpe;
constinit decltype(real::posix_spawn) posix_spawn = &Late_posix_spawn;
constinit decltype(real::posix_spawnp) posix_spawnp = &Late_posix_spawnp;
constinit decltype(real::fclose) fclose = &Late_fclose;
constinit decltype(real::freopen) freopen = &Late_freopen;
constinit decltype(real::freopen64) freopen64 = &Late_freopen64;
constinit decltype(real::fcntl) fcntl = &BareFcntl;
constinit decltype(real::ioctl) ioctl = &BareIoctl;

void Resolve() {
#define RINGDEAL_RESOLVE(result, name, arguments) ResolveOne(#name, real::name);
  RINGDEAL_REAL_CALLS(RINGDEAL_RESOLVE)
#undef RINGDEAL_RESOLVE
  ResolveOne("fcntl", real::fcntl);
  ResolveOne("ioctl", real::ioctl);
}

bool IsLoaded(const char* symbol) { return dlsym(RTLD_DEFAULT, symbol) != nullptr; }

}  // namespace ringdeal::shim::real
