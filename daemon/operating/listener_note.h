// What ringdeald notes of a listener for the ringdeald that comes after it, and the text in which
// it does. Pure.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"
#include "protocol/socket_identity.h"

namespace ringdeal {

// One socket of a listener.
struct ListenerNote {
  SocketIdentity identity;
  std::string name;
  bool owned = false;
  uid_t uid = 0;  // who offered it, if it was adopted

  friend bool operator==(const ListenerNote&, const ListenerNote&) = default;
};

// `boot` names the run of the kernel: identities mean nothing to another one.
std::string FormatNotes(std::string_view boot, const std::vector<ListenerNote>& notes);

// None if they are of another boot. The error is why the text is no notes.
Result<std::vector<ListenerNote>, std::string> ParseNotes(std::string_view boot,
                                                          std::string_view text);

}  // namespace ringdeal
