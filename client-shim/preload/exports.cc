// The names that the shim puts in front of the C library's: the top layer. Nothing is decided here.
// exports.list has the same names, one a line; a test compares it with the library.
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>

#include "client-shim/client/kernel_call_linux.h"
#include "client-shim/preload/export.h"
#include "client-shim/preload/handing_on.h"
#include "client-shim/preload/joining.h"
#include "client-shim/preload/settings.h"
#include "client-shim/preload/slices.h"
#include "client-shim/preload/slots.h"

// Weak: not every C library has fortified functions.
extern "C" [[noreturn]] void __chk_fail() __attribute__((weak));

namespace ringdeal::shim {
namespace {

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

int RealAcceptPlain(int number, sockaddr* address, socklen_t* length, int) {
  return real::accept(number, address, length);
}

int RealAccept4(int number, sockaddr* address, socklen_t* length, int flags) {
  return real::accept4(number, address, length, flags);
}

// A select on what is no set of numbers, or on more than can be copied, is the kernel's to answer.
template <typename Time>
int64_t SelectTime(int count, const Time* timeout) {
  const bool fits = count >= 0 && count <= SelectSlice::kMostNumbers;
  return fits ? Nanoseconds(timeout) : kInOnePiece;
}

// libuv would add listeners through io_uring, where no hook sees it; without one it uses epoll.
bool IsLibuv() { return real::IsLoaded("uv_version"); }

// Ends the program if the caller's array is smaller than it says.
void CheckRoom(size_t bytes, nfds_t count) {
  if (bytes / sizeof(pollfd) >= count) return;
  if (&__chk_fail != nullptr) __chk_fail();
  abort();
}

}  // namespace
}  // namespace ringdeal::shim

using namespace ringdeal::shim;  // NOLINT(google-build-using-namespace): C names, outside of it

RINGDEAL_PASS(bind, (int fd, const sockaddr* address, socklen_t length), Bind(fd, address, length))
RINGDEAL_PASS(listen, (int fd, int backlog), Listen(fd, backlog))
RINGDEAL_PASS(accept, (int fd, sockaddr* address, socklen_t* length),
              Accept(fd, address, length, 0, &RealAcceptPlain))
RINGDEAL_PASS(accept4, (int fd, sockaddr* address, socklen_t* length, int flags),
              Accept(fd, address, length, flags, &RealAccept4))
RINGDEAL_PASS(connect, (int fd, const sockaddr* address, socklen_t length),
              Connect(fd, address, length))
RINGDEAL_PASS(shutdown, (int fd, int how), Shutdown(fd, how))
RINGDEAL_PASS(getsockname, (int fd, sockaddr* address, socklen_t* length),
              GetName(fd, address, length))
RINGDEAL_PASS(getpeername, (int fd, sockaddr* address, socklen_t* length),
              real::getpeername(RealNumber(fd), address, length))
RINGDEAL_PASS(getsockopt, (int fd, int level, int name, void* value, socklen_t* length),
              GetOption(fd, level, name, value, length))
RINGDEAL_PASS(setsockopt, (int fd, int level, int name, const void* value, socklen_t length),
              SetOption(fd, level, name, value, length))
RINGDEAL_EXPORT(ssize_t, sendmsg, int fd, const msghdr* message, int flags) {
  return SendMessage(fd, message, flags);
}
RINGDEAL_PASS(sendmmsg, (int fd, mmsghdr* messages, unsigned count, int flags),
              SendMessages(fd, messages, count, flags))

RINGDEAL_PASS(close, (int fd), Close(fd))
RINGDEAL_PASS(__close, (int fd), Close(fd))
RINGDEAL_PASS(close_range, (unsigned first, unsigned last, int flags),
              CloseRange(first, last, flags))
RINGDEAL_PASS(fclose, (FILE * stream), CloseStream(stream))
RINGDEAL_EXPORT(FILE*, freopen, const char* path, const char* mode, FILE* stream) {
  return ReopenStream(path, mode, stream, real::freopen);
}
RINGDEAL_EXPORT(FILE*, freopen64, const char* path, const char* mode, FILE* stream) {
  return ReopenStream(path, mode, stream, real::freopen64);
}
RINGDEAL_PASS(dup, (int fd), Duplicate(fd))
RINGDEAL_PASS(dup2, (int from, int to), DuplicateOver(from, to))
RINGDEAL_PASS(__dup2, (int from, int to), DuplicateOver(from, to))
RINGDEAL_PASS(dup3, (int from, int to, int flags), DuplicateTo(from, to, flags))

RINGDEAL_PASS(epoll_ctl, (int set, int operation, int fd, epoll_event* event),
              EpollControl(set, operation, fd, event))
RINGDEAL_PASS(epoll_wait, (int set, epoll_event* events, int count, int timeout),
              Waiting(
                  WatchedBySet(set), Nanoseconds(timeout), nullptr,
                  [=] { return real::epoll_wait(set, events, count, timeout); },
                  EpollSlice{set, events, count}))
RINGDEAL_PASS(epoll_pwait,
              (int set, epoll_event* events, int count, int timeout, const sigset_t* mask),
              Waiting(
                  WatchedBySet(set), Nanoseconds(timeout), mask,
                  [=] { return real::epoll_pwait(set, events, count, timeout, mask); },
                  EpollSlice{set, events, count}))
RINGDEAL_PASS(epoll_pwait2,
              (int set, epoll_event* events, int count, const timespec* timeout,
               const sigset_t* mask),
              Waiting(
                  WatchedBySet(set), Nanoseconds(timeout), mask,
                  [=] { return real::epoll_pwait2(set, events, count, timeout, mask); },
                  EpollSlice{set, events, count}))
RINGDEAL_PASS(poll, (pollfd * fds, nfds_t count, int timeout),
              Waiting(
                  WatchedByPoll(fds, count), Nanoseconds(timeout), nullptr,
                  [=] { return real::poll(fds, count, timeout); }, PollSlice{fds, count}))
RINGDEAL_PASS(ppoll, (pollfd * fds, nfds_t count, const timespec* timeout, const sigset_t* mask),
              Waiting(
                  WatchedByPoll(fds, count), Nanoseconds(timeout), mask,
                  [=] { return real::ppoll(fds, count, timeout, mask); }, PollSlice{fds, count}))
RINGDEAL_PASS(select, (int count, fd_set* in, fd_set* out, fd_set* except, timeval* timeout),
              Waiting(
                  WatchedBySelect(count, in), SelectTime(count, timeout), nullptr,
                  [=] { return real::select(count, in, out, except, timeout); },
                  SelectSlice(count, in, out, except, timeout)))
RINGDEAL_PASS(pselect,
              (int count, fd_set* in, fd_set* out, fd_set* except, const timespec* timeout,
               const sigset_t* mask),
              Waiting(
                  WatchedBySelect(count, in), SelectTime(count, timeout), mask,
                  [=] { return real::pselect(count, in, out, except, timeout, mask); },
                  SelectSlice(count, in, out, except, nullptr)))
RINGDEAL_PASS(__poll, (pollfd * fds, nfds_t count, int timeout), ringdeal_poll(fds, count, timeout))
RINGDEAL_PASS(__select, (int count, fd_set* in, fd_set* out, fd_set* except, timeval* timeout),
              ringdeal_select(count, in, out, except, timeout))

// The fortified ones know how large the caller's array is.
RINGDEAL_EXPORT(int, __poll_chk, pollfd* fds, nfds_t count, int timeout, size_t bytes) {
  CheckRoom(bytes, count);
  return ringdeal_poll(fds, count, timeout);
}

RINGDEAL_EXPORT(int, __ppoll_chk, pollfd* fds, nfds_t count, const timespec* timeout,
                const sigset_t* mask, size_t bytes) {
  CheckRoom(bytes, count);
  return ringdeal_ppoll(fds, count, timeout, mask);
}

RINGDEAL_EXPORT(void, closefrom, int first) {
  if (first < 0) first = 0;
  const int saved_errno = errno;
  if (CloseRange(static_cast<unsigned>(first), ~0u, 0) == 0) return;
  // A kernel or a sandbox without close_range.
  const long end = sysconf(_SC_OPEN_MAX);
  for (int number = first; number < end; ++number) Close(number);
  errno = saved_errno;
}

// The variadic ones take one argument at most, or six; what was not passed is read and not used.
#define RINGDEAL_ONE_ARGUMENT(after)             \
  va_list arguments;                             \
  va_start(arguments, after);                    \
  const long argument = va_arg(arguments, long); \
  va_end(arguments)

RINGDEAL_EXPORT(int, fcntl, int fd, int command, ...) {
  RINGDEAL_ONE_ARGUMENT(command);
  return Control(fd, command, argument);
}

RINGDEAL_EXPORT(int, fcntl64, int fd, int command, ...) {
  RINGDEAL_ONE_ARGUMENT(command);
  return Control(fd, command, argument);
}

RINGDEAL_EXPORT(int, __fcntl, int fd, int command, ...) {
  RINGDEAL_ONE_ARGUMENT(command);
  return Control(fd, command, argument);
}

RINGDEAL_EXPORT(int, ioctl, int fd, unsigned long request, ...) {
  RINGDEAL_ONE_ARGUMENT(request);
  return IoControl(fd, request, argument);
}

RINGDEAL_EXPORT(long, syscall, long number, ...) {
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (long& argument : a) argument = va_arg(arguments, long);
  va_end(arguments);
  const int first = static_cast<int>(a[0]);
  switch (number) {
    case SYS_close:
      return Close(first);
    case SYS_close_range:
      return CloseRange(static_cast<unsigned>(a[0]), static_cast<unsigned>(a[1]),
                        static_cast<int>(a[2]));
    case SYS_accept:
      return ringdeal_accept(first, reinterpret_cast<sockaddr*>(a[1]),
                             reinterpret_cast<socklen_t*>(a[2]));
    case SYS_accept4:
      return ringdeal_accept4(first, reinterpret_cast<sockaddr*>(a[1]),
                              reinterpret_cast<socklen_t*>(a[2]), static_cast<int>(a[3]));
    case SYS_epoll_ctl:
      return EpollControl(first, static_cast<int>(a[1]), static_cast<int>(a[2]),
                          reinterpret_cast<epoll_event*>(a[3]));
    case SYS_execve:
    case SYS_execveat: {
      const SocketsGivenBack given_back;
      return ringdeal::kernel::CallWithErrno(number, a[0], a[1], a[2], a[3], a[4]);
    }
    case SYS_io_uring_setup:
      if (!settings.enabled || !IsLibuv()) break;
      errno = ENOSYS;
      return -1;
    default:
      break;
  }
  return ringdeal::kernel::WithErrno(
      ringdeal::kernel::Call(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}
