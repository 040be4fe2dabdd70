// The worker's side of the control socket: reaching it, asking for an address, registering. Any
// thread; each call waits at most as long as it is told.
#pragma once

#include "protocol/control_messages.h"
#include "protocol/page.h"
#include "protocol/unique_fd.h"

namespace ringdeal::client {

enum class Answer {
  kGiven,    // yes, with the descriptors
  kRefused,  // an error answer, in `text`
  kLate,     // not yet
  kAbsent,   // nobody is there, or ringdeald says no in a way that passes
};

struct BindResult {
  Answer answer = Answer::kAbsent;
  UniqueFd listener;  // the address is an owned listener, and we may have it
  UniqueFd door;
  char text[256] = "";  // the answer's line, cut, if it was refused
};

struct Registration {
  Answer answer = Answer::kAbsent;
  UniqueFd channel;
  MappedPage page;
  UniqueFd listener;
  char text[256] = "";  // the answer's line, cut, if it was refused
};

// Connects to `path`, else to the abstract name of the same text. A peer of another uid than the
// first that this process or an ancestor reached is refused (EPERM): nobody who puts a socket in
// that place later is sent a listener. Nor is a first peer at the abstract name, which anybody
// may take, unless it is root or this user.
Result<UniqueFd> ConnectToControl(const char* path);

// Makes a control connection through a door.
Result<UniqueFd> ConnectThroughDoor(int door);

// Asks for an address on a connection of its own.
BindResult AskToBind(const char* path, const char* address, int patience_ms);

// `listener` is sent along if it is not -1.
bool SendRegistration(int control, const RegisterRequest& request, int listener);
// Waits for the answer until `patience_ms` are over; 0 does not wait.
Registration ReceiveRegistration(int control, int patience_ms);

}  // namespace ringdeal::client
