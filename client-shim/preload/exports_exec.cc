// The exec family in front of the C library's. Each is one of three real calls with the sockets
// given back; nothing is allocated but the stack that the C library's own would take.
#include <alloca.h>
#include <unistd.h>

#include <cstdarg>

#include "client-shim/preload/export.h"
#include "client-shim/preload/handing_on.h"
#include "client-shim/preload/real_calls.h"

namespace ringdeal::shim {
namespace {

template <typename Call>
int WithSockets(Call call) {
  const SocketsGivenBack given_back;
  return call();
}

int CountArguments(va_list arguments) {
  int count = 1;
  while (va_arg(arguments, char*) != nullptr) ++count;
  return count;
}

void ReadArguments(char** all, va_list* arguments) {
  while ((*all++ = va_arg(*arguments, char*)) != nullptr) {
  }
}

}  // namespace
}  // namespace ringdeal::shim

using namespace ringdeal::shim;  // NOLINT(google-build-using-namespace): C names, outside of it

#define RINGDEAL_EXEC(name, arguments, call) \
  RINGDEAL_PASS(name, arguments, WithSockets([=] { return real::call; }))

RINGDEAL_EXEC(execve, (const char* path, char* const* argv, char* const* envp),
              execve(path, argv, envp))
RINGDEAL_EXEC(execv, (const char* path, char* const* argv), execve(path, argv, environ))
RINGDEAL_EXEC(execvpe, (const char* file, char* const* argv, char* const* envp),
              execvpe(file, argv, envp))
RINGDEAL_EXEC(execvp, (const char* file, char* const* argv), execvpe(file, argv, environ))
RINGDEAL_EXEC(fexecve, (int fd, char* const* argv, char* const* envp), fexecve(fd, argv, envp))
RINGDEAL_EXEC(execveat,
              (int directory, const char* path, char* const* argv, char* const* envp, int flags),
              execveat(directory, path, argv, envp, flags))

// The variadic ones: an array of what was passed, which ends with a null pointer. `envp` says where
// the environment is once the array has been read.
#define RINGDEAL_EXEC_LIST(name, call, envp)                                        \
  RINGDEAL_EXPORT(int, name, const char* file, const char* first, ...) {            \
    va_list arguments;                                                              \
    va_start(arguments, first);                                                     \
    const int count = first != nullptr ? CountArguments(arguments) : 0;             \
    va_end(arguments);                                                              \
    auto** argv = static_cast<char**>(alloca(sizeof(char*) * (size_t(count) + 1))); \
    argv[0] = const_cast<char*>(first);                                             \
    va_start(arguments, first);                                                     \
    if (first != nullptr) ReadArguments(argv + 1, &arguments);                      \
    char* const* environment = envp;                                                \
    va_end(arguments);                                                              \
    return WithSockets([=] { return real::call(file, argv, environment); });        \
  }

RINGDEAL_EXEC_LIST(execl, execve, environ)
RINGDEAL_EXEC_LIST(execlp, execvpe, environ)
RINGDEAL_EXEC_LIST(execle, execve, va_arg(arguments, char* const*))

// Old programs ask for another version, which also runs a script without "#!"; they get this one.
#define RINGDEAL_SPAWN(name)                                                                  \
  RINGDEAL_PASS(name,                                                                         \
                (pid_t * pid, const char* program, const posix_spawn_file_actions_t* actions, \
                 const posix_spawnattr_t* attributes, char* const* argv, char* const* envp),  \
                Spawn(real::name, pid, program, actions, attributes, argv, envp))

RINGDEAL_SPAWN(posix_spawn)
RINGDEAL_SPAWN(posix_spawnp)
