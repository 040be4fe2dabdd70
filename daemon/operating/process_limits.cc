#include "daemon/operating/process_limits.h"

#include <sys/resource.h>

#include <algorithm>

namespace ringdeal {
namespace {

constexpr rlim_t kEnough = 1 << 20;

}  // namespace

int RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = std::min(limit.rlim_max, kEnough);
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(limit.rlim_cur);
}

}  // namespace ringdeal
