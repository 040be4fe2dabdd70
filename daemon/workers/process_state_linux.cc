#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "daemon/workers/process_state.h"

namespace ringdeal {
namespace {

constexpr int kMostThreads = 64;  // looked at

// The state is the word behind the name, which stands in brackets and may hold anything.
bool IsRunnableThread(const std::filesystem::path& thread) {
  std::ifstream file(thread / "stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t end_of_name = text.rfind(')');
  return end_of_name != std::string::npos && text.compare(end_of_name, 3, ") R") == 0;
}

}  // namespace

bool IsRunnable(pid_t pid) {
  if (pid <= 0) return false;
  std::error_code error;
  std::filesystem::directory_iterator threads("/proc/" + std::to_string(pid) + "/task", error);
  for (int i = 0; !error && i < kMostThreads && threads != std::filesystem::directory_iterator();
       ++i, threads.increment(error)) {
    if (IsRunnableThread(threads->path())) return true;
  }
  return false;
}

}  // namespace ringdeal
