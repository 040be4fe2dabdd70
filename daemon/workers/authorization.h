// Who may do what. Pure. The rules are design.md's: whoever may take a listener can read its
// traffic, so openness is no permission; servers drop privileges and change root between listen and
// accept, so a path and a mode are not enough either.
#pragma once

#include <sys/types.h>

#include <vector>

#include "daemon/operating/config.h"

namespace ringdeal {

struct Peer {
  pid_t pid = 0;
  uid_t uid = static_cast<uid_t>(-1);
  gid_t gid = static_cast<gid_t>(-1);
  std::vector<gid_t> groups;  // supplementary
};

// Who ringdeald itself is.
struct Self {
  uid_t uid = 0;
  gid_t adopting_group = static_cast<gid_t>(-1);  // the group "ringdeal", if there is one
};

bool IsAmong(const Peer& peer, const Principals& principals);

// Those whom the two that follow it let pass.
Principals WhoMayTake(const Self& self, const Principals& allow);
Principals WhoMayHaveAdopted(const Self& self, const AdoptConfig& adopt);

// To be answered with an owned listener, or to register with it without holding it.
bool MayTake(const Peer& peer, const Self& self, const Principals& allow);

// To have listeners of its own adopted. `opener` is who opened the door, if one was used.
bool MayAdopt(const Peer& opener, const Self& self, const AdoptConfig& adopt);

// To drain and reload.
bool MayAdminister(const Peer& peer, const Self& self, const Principals& admin);

}  // namespace ringdeal
