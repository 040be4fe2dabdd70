// What is known about each kind of server, from advice.json, which is built in. Main thread.
#pragma once

#include <string>
#include <vector>

namespace ringdeal {

struct Advice {
  // What must be set for it to be dealt at all, said unless one of `unless` is given: a variable of
  // the environment, or an option of `ringdeal run`.
  struct Must {
    std::string text;
    std::vector<std::string> unless;
  };

  std::string id;
  std::string title;
  std::vector<std::string> names;      // of the program, as patterns of the shell
  std::vector<std::string> libraries;  // one of them is loaded, likewise; empty: any
  std::vector<Must> must;
  std::vector<std::string> set;
  std::vector<std::string> does_not_work;
};

// Null if the server is not known. `words`: what may name it, such as the first words of its
// command line; `files`: what it has loaded, if that is known.
const Advice* AdviceFor(const std::vector<std::string>& words,
                        const std::vector<std::string>& files);

}  // namespace ringdeal
