#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "cli/advice.h"
#include "cli/commands.h"
#include "cli/copies.h"
#include "cli/distribution.h"
#include "cli/exit_codes.h"
#include "cli/installation.h"
#include "cli/status_reader.h"
#include "cli/status_view.h"

namespace ringdeal {
namespace {

// Behind what is there already: a sanitizer's library insists on being first, and another
// interposer then finds the shim as what is next.
std::string PreloadList(const std::string& library) {
  const char* before = std::getenv(kPreloadVariable);
  if (before == nullptr || *before == '\0') return library;
  const std::string list = before;
  if ((":" + list + ":").find(":" + library + ":") != std::string::npos) return list;
  return list + ":" + library;
}

void SetEnvironment(const RunOptions& options, const std::string& library) {
  setenv(kPreloadVariable, PreloadList(library).c_str(), 1);
  if (!options.control.empty()) setenv("RINGDEAL_CONTROL", options.control.c_str(), 1);
  if (!options.cpus.empty()) setenv("RINGDEAL_CPUS", options.cpus.c_str(), 1);
  if (options.weight != 1) setenv("RINGDEAL_WEIGHT", std::to_string(options.weight).c_str(), 1);
  if (options.require) setenv("RINGDEAL_REQUIRE", "1", 1);
}

bool IsGiven(const RunOptions& options, const std::string& name) {
  return name == "--workers" ? options.workers.has_value() : std::getenv(name.c_str()) != nullptr;
}

// What a known server needs to be dealt at all, and has not.
void SayWhatMustBeSet(const RunOptions& options) {
  const char* log = std::getenv("RINGDEAL_LOG");
  if (log != nullptr && std::strcmp(log, "off") == 0) return;
  const Advice* advice = AdviceFor(options.command, {});
  if (advice == nullptr) return;
  for (const Advice::Must& must : advice->must) {
    if (std::ranges::any_of(must.unless,
                            [&](const auto& name) { return IsGiven(options, name); })) {
      continue;
    }
    std::fprintf(stderr, "ringdeal run: %s: %s\n", advice->title.c_str(), must.text.c_str());
  }
}

// One line, and the exit code that says the same.
int SayWhyNotRun(const RunOptions& options, const SystemError& error) {
  const char* program = options.command.front().c_str();
  const char* reason = std::strerror(error.number);
  if (std::strcmp(error.step, kExecStep) != 0) {
    std::fprintf(stderr, "ringdeal run: cannot start %s: %s: %s\n", program, error.step, reason);
    return kExitSystem;
  }
  std::fprintf(stderr, "ringdeal run: cannot run %s: %s\n", program, reason);
  return error.number == ENOENT ? kExitNotFound : kExitNotExecutable;
}

// Copies that bind one address mostly fail because nobody owns it.
void ExplainFailure(const RunOptions& options) {
  if (*options.workers == 1) return;
  const auto document = ReadStatus(options.control);
  const auto status = document ? ParseStatus(*document) : std::nullopt;
  if (status && std::ranges::any_of(status->listeners, &ListenerView::owned)) return;
  std::fprintf(stderr,
               "ringdeal run: %s: several copies can bind one address only if it is a listener of "
               "ringdeald's configuration, and their user is in its `allow`\n",
               document ? "ringdeald owns no address" : document.error().text.c_str());
}

Result<void> PinTo(const Distribution& distribution, unsigned copy) {
  setenv("RINGDEAL_CPUS", distribution.CpusOf(copy).c_str(), 1);
  return distribution.BindTo(copy);
}

int RunCopies(const RunOptions& options) {
  Result<Distribution> distribution = Distribution();
  if (options.pin) distribution = Distribution::Over(*options.workers);
  if (!distribution) return SayWhyNotRun(options, distribution.error());

  const SignalQueue signals;
  Copies copies(&signals, [&options](pid_t pid, int exit_code) {
    std::fprintf(stderr, "ringdeal run: process %d ended with status %d, ending the others\n",
                 static_cast<int>(pid), exit_code);
    ExplainFailure(options);
  });
  int exit_code = kExitOk;
  for (unsigned copy = 0; copy < *options.workers && exit_code == kExitOk; ++copy) {
    const Result<void> started = copies.Start(
        options.command, [&] { return options.pin ? PinTo(*distribution, copy) : Result<void>(); });
    if (!started) exit_code = SayWhyNotRun(options, started.error());
  }
  if (exit_code != kExitOk) copies.End();
  const int first_failure = copies.Watch();
  return exit_code != kExitOk ? exit_code : first_failure;
}

}  // namespace

int RunTarget(const RunOptions& options) {
  const std::string library = FindPreloadLibrary();
  if (library.empty()) {
    std::fprintf(stderr,
                 "ringdeal run: cannot find %s; RINGDEAL_PRELOAD_LIBRARY can say where it is\n",
                 kPreloadLibraryName);
    return kExitSystem;
  }
  // The loader splits the list at colons and spaces and has no way to quote them.
  if (library.find_first_of(": ") != std::string::npos) {
    std::fprintf(stderr, "ringdeal run: the loader takes no path with a colon or a space: %s\n",
                 library.c_str());
    return kExitSystem;
  }
  SetEnvironment(options, library);
  SayWhatMustBeSet(options);
  if (options.workers) return RunCopies(options);
  return SayWhyNotRun(options, Execute(options.command));
}

}  // namespace ringdeal
