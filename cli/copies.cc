#include "cli/copies.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "cli/processes.h"
#include "protocol/unique_fd.h"

namespace ringdeal {
namespace {

constexpr int kSignalled = 128;  // added to a signal's number, as shells do

int ExitCodeOf(int status) {
  return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

// The child is a fork of this process, so the name of its step is at the same place in both.
Result<void> AwaitExec(UniqueFd pipe) {
  SystemError error;
  ssize_t bytes = -1;
  do {
    bytes = read(pipe.get(), &error, sizeof(error));
  } while (bytes < 0 && errno == EINTR);
  // A successful exec closes the other end unused.
  if (bytes == static_cast<ssize_t>(sizeof(error))) return error;
  return {};
}

[[noreturn]] void BecomeCopy(const SignalQueue& signals, pid_t parent, int pipe,
                             const std::vector<std::string>& command,
                             const std::function<Result<void>()>& prepare) {
  signals.Restore();
  const Result<void> tied = EndWithParent(parent);
  const Result<void> prepared = tied ? prepare() : tied;
  const SystemError error = prepared ? Execute(command) : prepared.error();
  (void)!write(pipe, &error, sizeof(error));
  _exit(1);
}

}  // namespace

SystemError Execute(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  return {errno, kExecStep};
}

Result<void> Copies::Start(const std::vector<std::string>& command,
                           const std::function<Result<void>()>& prepare) {
  int ends[2];
  if (pipe(ends) != 0) return SystemError{errno, "pipe"};
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  fcntl(read_end.get(), F_SETFD, FD_CLOEXEC);
  fcntl(write_end.get(), F_SETFD, FD_CLOEXEC);
  const pid_t self = getpid();
  const pid_t pid = fork();
  if (pid < 0) return SystemError{errno, "fork"};
  if (pid == 0) BecomeCopy(*signals_, self, write_end.get(), command, prepare);
  write_end.Reset();
  const Result<void> executed = AwaitExec(std::move(read_end));
  if (!executed) {
    waitpid(pid, nullptr, 0);
    return executed.error();
  }
  running_.push_back(pid);
  return {};
}

void Copies::Tell(int signal) {
  for (const pid_t pid : running_) kill(pid, signal);
}

void Copies::End() {
  ending_ = true;
  Tell(SIGTERM);
}

int Copies::Watch() {
  while (!running_.empty()) {
    const SignalQueue::Signal signal = signals_->Next();
    if (signal.number == SIGCHLD) {
      Reap();
      continue;
    }
    if (signal.number == SIGTERM || signal.number == SIGINT) ending_ = true;
    if (!signal.from_terminal) Tell(signal.number);
  }
  return exit_code_;
}

// One SIGCHLD may stand for several ends. As the first process of a container this one is also
// given the orphans of others.
void Copies::Reap() {
  int status = 0;
  for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
    if (std::erase(running_, pid) != 0) NoteEnd(pid, ExitCodeOf(status));
  }
}

void Copies::NoteEnd(pid_t pid, int exit_code) {
  if (exit_code == 0 || exit_code_ != 0) return;
  exit_code_ = exit_code;
  // A second SIGTERM makes many programs drop what they were about to finish.
  if (ending_) return;
  failed_(pid, exit_code);
  End();
}

}  // namespace ringdeal
