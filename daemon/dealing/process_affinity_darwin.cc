#include "daemon/dealing/process_affinity.h"

namespace ringdeal {

std::vector<int> ProcessAffinity(pid_t) { return {}; }

std::vector<int> UsableCpus() { return {}; }

}  // namespace ringdeal
