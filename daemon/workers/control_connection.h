// One control connection: lines in, lines out, descriptors beside them. Control thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/operating/event_loop.h"
#include "daemon/workers/authorization.h"
#include "protocol/result.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

// True if the peer of a socket closed it and everything that it sent was read. Does not wait.
bool IsAtEnd(int socket);

class ControlConnection {
 public:
  struct Callbacks {
    // One line without its end, and the descriptors that came since the last one. The connection
    // may be ended by End during the call, not destroyed.
    std::function<void(ControlConnection*, std::string_view, std::vector<UniqueFd>)> line;
    // The peer closed, its process ended, it broke a bound, or End was called; `code` says which
    // bound, or is null. Called once, from the loop: the connection may be destroyed.
    std::function<void(ControlConnection*, const char* code)> ended;
  };

  // `opener`: who may have listeners adopted over this connection, the peer itself if no door was
  // used.
  ControlConnection(UniqueFd socket, Peer peer, Peer opener, EventLoop* loop,
                    std::chrono::nanoseconds patience, Callbacks callbacks);

  const Peer& peer() const { return peer_; }
  const Peer& opener() const { return opener_; }

  ~ControlConnection();

  // The peer must read: an answer that does not fit into the socket's buffer ends the connection.
  // Returns false if the answer with its descriptors was not sent.
  bool Answer(const std::string& line, std::span<const int> descriptors);
  // True if the peer closed its end or its process ended, whether or not that was noticed yet.
  bool PeerIsGone() const;
  // Ends the connection soon, from the loop.
  void End(const char* code);

  // A member may stay; anybody else has `patience` in all for what it wants.
  void BecomeMember();
  // Also end when this process has ended: its children may hold the connection open.
  void WatchProcess(UniqueFd process);

  int socket() const { return socket_.get(); }

 private:
  void Read();
  void TakeLines();

  UniqueFd socket_;
  const Peer peer_;
  const Peer opener_;
  EventLoop* const loop_;
  const Callbacks callbacks_;
  std::string unread_;
  std::vector<UniqueFd> descriptors_;
  UniqueFd process_;
  std::unique_ptr<EventLoop::Watch> readable_;
  std::unique_ptr<EventLoop::Watch> process_ended_;
  std::unique_ptr<EventLoop::Watch> silence_;
  std::unique_ptr<EventLoop::Watch> ending_;
  bool ended_ = false;
  const char* end_code_ = nullptr;
};

}  // namespace ringdeal
