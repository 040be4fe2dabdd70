// Answers HAProxy's agent checks: for each listener that has an `agent` address, whoever connects
// there is told one line and closed. Control thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/operating/config.h"
#include "daemon/operating/event_loop.h"
#include "protocol/result.h"
#include "protocol/unique_fd.h"

namespace ringdeal {

class Agents {
 public:
  // `answer`: the line for the listener of that name.
  Agents(EventLoop* loop, std::function<std::string(const std::string&)> answer);
  ~Agents();

  struct Socket {
    std::string listener;
    std::string address;
    UniqueFd descriptor;
  };
  // Opens what the configuration names and is not open yet, and changes nothing. The error is one
  // line for the operator.
  Result<std::vector<Socket>, std::string> Open(const Config& config) const;
  // From now on these too, and none that the configuration does not name.
  void Use(const Config& config, std::vector<Socket> opened);

 private:
  struct Agent;

  bool Has(const std::string& listener, const std::string& address) const;
  void AnswerAll(const Agent& agent) const;

  EventLoop* const loop_;
  const std::function<std::string(const std::string&)> answer_;
  std::vector<std::unique_ptr<Agent>> agents_;
};

}  // namespace ringdeal
