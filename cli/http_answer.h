// An HTTP/1 answer as it arrives, just enough of it to read a process number out of the body. Main
// thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace ringdeal {

class HttpAnswer {
 public:
  void Add(std::string_view bytes);
  // The server closed the connection: an answer without a length is whole now.
  void End();

  // True once nothing that follows can change NamedProcess().
  bool whole() const { return whole_; }

  // The number that is the whole body of an answer with status 200, leading and trailing white
  // space aside.
  std::optional<pid_t> NamedProcess() const;

 private:
  void Parse();

  std::string bytes_;
  std::string body_;
  bool success_ = false;
  bool whole_ = false;
};

}  // namespace ringdeal
