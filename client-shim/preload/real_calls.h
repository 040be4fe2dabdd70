// The C library's functions behind the shim's: the bottom layer. Before the shim's constructor has
// run, each is the bare system call, or is looked up when it is called, so every hook works from
// the first instruction of the process. Any thread, signal handlers too.
#pragma once

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>

namespace ringdeal::shim {

// X(result, name, arguments): everything that the shim exports and passes on.
#define RINGDEAL_REAL_CALLS(X)                                                         \
  X(int, bind, (int, const sockaddr*, socklen_t))                                      \
  X(int, listen, (int, int))                                                           \
  X(int, accept, (int, sockaddr*, socklen_t*))                                         \
  X(int, accept4, (int, sockaddr*, socklen_t*, int))                                   \
  X(int, connect, (int, const sockaddr*, socklen_t))                                   \
  X(int, shutdown, (int, int))                                                         \
  X(int, getsockname, (int, sockaddr*, socklen_t*))                                    \
  X(int, getpeername, (int, sockaddr*, socklen_t*))                                    \
  X(int, getsockopt, (int, int, int, void*, socklen_t*))                               \
  X(int, setsockopt, (int, int, int, const void*, socklen_t))                          \
  X(int, close, (int))                                                                 \
  X(int, close_range, (unsigned, unsigned, int))                                       \
  X(int, dup, (int))                                                                   \
  X(int, dup2, (int, int))                                                             \
  X(int, dup3, (int, int, int))                                                        \
  X(int, epoll_ctl, (int, int, int, epoll_event*))                                     \
  X(int, epoll_wait, (int, epoll_event*, int, int))                                    \
  X(int, epoll_pwait, (int, epoll_event*, int, int, const sigset_t*))                  \
  X(int, epoll_pwait2, (int, epoll_event*, int, const timespec*, const sigset_t*))     \
  X(int, poll, (pollfd*, nfds_t, int))                                                 \
  X(int, ppoll, (pollfd*, nfds_t, const timespec*, const sigset_t*))                   \
  X(int, select, (int, fd_set*, fd_set*, fd_set*, timeval*))                           \
  X(int, pselect, (int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*))  \
  X(int, execve, (const char*, char* const*, char* const*))                            \
  X(int, execvpe, (const char*, char* const*, char* const*))                           \
  X(int, fexecve, (int, char* const*, char* const*))                                   \
  X(int, execveat, (int, const char*, char* const*, char* const*, int))                \
  X(int, posix_spawn,                                                                  \
    (pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, \
     char* const*, char* const*))                                                      \
  X(int, posix_spawnp,                                                                 \
    (pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, \
     char* const*, char* const*))                                                      \
  X(ssize_t, sendmsg, (int, const msghdr*, int))                                       \
  X(int, sendmmsg, (int, mmsghdr*, unsigned, int))                                     \
  X(int, fclose, (FILE*))                                                              \
  X(FILE*, freopen, (const char*, const char*, FILE*))                                 \
  X(FILE*, freopen64, (const char*, const char*, FILE*))

namespace real {
#define RINGDEAL_DECLARE(result, name, arguments) extern result(*name) arguments;
RINGDEAL_REAL_CALLS(RINGDEAL_DECLARE)
#undef RINGDEAL_DECLARE

// Variadic in C: one integer or pointer after the command.
extern int (*fcntl)(int, int, ...);
extern int (*ioctl)(int, unsigned long, ...);

// Called once, by the constructor.
void Resolve();

// True if anything in the process defines the symbol. Not from a signal handler.
bool IsLoaded(const char* symbol);
}  // namespace real

}  // namespace ringdeal::shim
