#include "daemon/operating/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "daemon/operating/log_line.h"
#include "daemon/operating/log_repeats.h"

namespace ringdeal {
namespace {

constexpr spdlog::level::level_enum ToSpdlog(LogLevel level) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                   spdlog::level::warn, spdlog::level::err};
  return kLevels[static_cast<size_t>(level)];
}

// systemd gives the journal's socket as "device:inode" to all that it starts; ours may since have
// been redirected.
bool ErrorsGoToJournal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  unsigned long long device = 0;
  unsigned long long inode = 0;
  struct stat status = {};
  return stream != nullptr && std::sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
         fstat(STDERR_FILENO, &status) == 0 &&
         static_cast<unsigned long long>(status.st_dev) == device && status.st_ino == inode;
}

struct State {
  State() : logger("ringdeal", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger.set_pattern("%v");                             // log_line.h makes the whole line
    logger.set_error_handler([](const std::string&) {});  // there is nowhere left to say it
  }

  spdlog::logger logger;
  std::atomic<bool> json{false};  // written by StartLog
  std::atomic<bool> priority{false};
  std::mutex mutex;
  LogRepeats repeats;  // under mutex
};

// Never destroyed: a thread may log while the process ends.
State& TheState() {
  static State* const state = new State;
  return *state;
}

std::string ListenerOf(std::initializer_list<LogField> fields) {
  for (const LogField& field : fields) {
    const auto* text = std::get_if<std::string_view>(&field.value);
    if (field.key == "listener" && text != nullptr) return std::string(*text);
  }
  return {};
}

}  // namespace

void StartLog(const LogConfig& config) {
  State& state = TheState();
  state.json = config.format == "json";
  state.priority = ErrorsGoToJournal();
  SetLogLevel(config.level);
}

void SetLogLevel(std::string_view level) {
  for (const LogLevel each :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError}) {
    if (level == LevelName(each)) TheState().logger.set_level(ToSpdlog(each));
  }
}

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  State& state = TheState();
  if (!state.logger.should_log(ToSpdlog(level))) return;
  std::optional<uint64_t> left_out;
  {
    const std::lock_guard lock(state.mutex);
    left_out = state.repeats.Admit(std::string(event), ListenerOf(fields),
                                   std::chrono::steady_clock::now());
  }
  if (!left_out) return;
  std::vector<LogField> all(fields);
  if (*left_out > 0) all.emplace_back("left_out", *left_out);
  const LineForm form{.json = state.json, .priority = state.priority};
  state.logger.log(ToSpdlog(level), "{}",
                   RenderLine(form, std::chrono::system_clock::now(), level, event, all));
}

}  // namespace ringdeal
