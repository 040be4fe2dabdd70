#include <sys/sysctl.h>

#include "daemon/operating/boot_id.h"

namespace ringdeal {

std::string BootId() {
  char id[64] = "";
  size_t length = sizeof(id) - 1;
  if (sysctlbyname("kern.bootsessionuuid", id, &length, nullptr, 0) != 0) return "";
  return id;
}

}  // namespace ringdeal
