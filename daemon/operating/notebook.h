// The notes of all listeners that ringdeald has or had, kept in a file beside the control socket:
// by them the next ringdeald knows a listener again that a worker brings. Owned ones are given to
// the service manager as well, which keeps them if it is told to. Possession of a noted
// listener is the permission to have it dealt, whoever the worker is by now. Control thread.
#pragma once

#include <map>
#include <string>

#include "daemon/accepting/listener.h"
#include "daemon/operating/listener_note.h"

namespace ringdeal {

class Notebook {
 public:
  // Reads what an earlier ringdeald noted in `path`, unless somebody else may have written it.
  void Open(const std::string& path);

  // Null if nothing was noted of the socket.
  const ListenerNote* Find(const SocketIdentity& identity) const;

  // Notes all sockets of the listener.
  void Note(const Listener& listener);

  // The listener is let go, for whoever holds it. What an earlier ringdeald noted of an adopted one
  // stays noted: the processes that opened its door may have children yet, and hold no door to this
  // one.
  void Forget(const Listener& listener);

 private:
  struct Entry {
    ListenerNote note;
    bool earlier = false;
  };

  void Write();

  std::string path_;  // empty: no notes are kept
  std::string boot_;
  std::map<uint64_t, Entry> entries_;  // by cookie
  bool complained_ = false;
};

}  // namespace ringdeal
