// What leaves this process under a listener's number, by exec, spawn or a message, must be the
// socket there, not what stands in its place here. Any thread, signal handlers and vfork children
// too.
#pragma once

namespace ringdeal::shim {

// For the length of an exec: every number that the new image inherits has its socket again. If the
// exec fails, the same ready set comes back, and whoever waits on it has noticed nothing. Meanwhile
// ringdeald hands nothing over; what it has handed it takes back once the process is another image.
class SocketsGivenBack {
 public:
  SocketsGivenBack();
  ~SocketsGivenBack();
  SocketsGivenBack(const SocketsGivenBack&) = delete;
  SocketsGivenBack& operator=(const SocketsGivenBack&) = delete;
};

}  // namespace ringdeal::shim
