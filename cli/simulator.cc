#include "cli/simulator.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "cli/exit_codes.h"
#include "cli/installation.h"
#include "protocol/unique_fd.h"

extern char** environ;

namespace ringdeal {
namespace {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

// Neither end survives exec: the child is given duplicates.
bool Open(Pipe* ends) {
  int descriptors[2];
  if (pipe(descriptors) != 0) return false;
  for (const int descriptor : descriptors) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  ends->read_end.Reset(descriptors[0]);
  ends->write_end.Reset(descriptors[1]);
  return true;
}

int Spawn(const std::string& program, const Pipe& input, const Pipe& output, pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.read_end.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.write_end.get(), STDOUT_FILENO);
  char name[] = "ringdeald", option[] = "--simulate";
  char* const arguments[] = {name, option, nullptr};
  const int error = posix_spawnp(pid, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// It reads all before it says anything, so neither waits for the other.
void Write(const std::string& text, int descriptor) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t bytes = write(descriptor, text.data() + written, text.size() - written);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return;  // it ended, and its exit code tells
    written += static_cast<size_t>(bytes);
  }
}

std::string ReadAll(int descriptor) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t bytes = read(descriptor, buffer, sizeof(buffer));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return text;
    text.append(buffer, static_cast<size_t>(bytes));
  }
}

int ExitCodeOf(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return kExitSystem;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kExitSystem;
}

int Fail(const std::string& program, int error_number) {
  std::fprintf(stderr, "ringdeal simulate: cannot run %s: %s\n", program.c_str(),
               std::strerror(error_number));
  return kExitSystem;
}

}  // namespace

Result<std::string, int> AskSimulator(const std::string& request) {
  const std::string program = FindDaemon();
  Pipe input, output;
  if (!Open(&input) || !Open(&output)) return Fail(program, errno);
  pid_t pid = 0;
  if (const int error = Spawn(program, input, output, &pid)) return Fail(program, error);
  input.read_end.Reset();
  output.write_end.Reset();
  std::signal(SIGPIPE, SIG_IGN);
  Write(request, input.write_end.get());
  input.write_end.Reset();
  std::string text = ReadAll(output.read_end.get());
  if (const int code = ExitCodeOf(pid)) return code;
  return text;
}

}  // namespace ringdeal
