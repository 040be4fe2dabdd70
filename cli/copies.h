// Copies of one program, started one after the other and watched until the last has ended. Main
// thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "cli/signal_queue.h"
#include "protocol/result.h"

namespace ringdeal {

class Copies {
 public:
  // Both must live as long. `failed` is called once, when the first copy fails unasked, before the
  // others are told to end.
  Copies(const SignalQueue* signals, std::function<void(pid_t, int exit_code)> failed)
      : signals_(signals), failed_(std::move(failed)) {}

  // Runs the command in a new process, after `prepare` has succeeded there. Returns when the
  // program is executed, or with the step that failed.
  Result<void> Start(const std::vector<std::string>& command,
                     const std::function<Result<void>()>& prepare);

  // Tells all to end, by SIGTERM.
  void End();

  // Passes on every signal that comes, until no copy is left. Returns the status of the first one
  // that failed, 128 and the signal's number if that ended it; 0 if none failed.
  int Watch();

 private:
  void Tell(int signal);
  void Reap();
  void NoteEnd(pid_t pid, int exit_code);

  const SignalQueue* const signals_;
  const std::function<void(pid_t, int)> failed_;
  std::vector<pid_t> running_;
  int exit_code_ = 0;
  bool ending_ = false;  // they have been told to end
};

// Steps that Start names beside those of `prepare`.
inline constexpr char kExecStep[] = "exec";

// Becomes the command; returns only on failure.
SystemError Execute(const std::vector<std::string>& command);

}  // namespace ringdeal
