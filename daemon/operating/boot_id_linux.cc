#include <fstream>

#include "daemon/operating/boot_id.h"

namespace ringdeal {

std::string BootId() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
  return id;
}

}  // namespace ringdeal
