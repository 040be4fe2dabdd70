// A directory of a test's own, removed with all that is in it when the test ends.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace ringdeal {

class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_(mkdtemp(name_)) {}
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  // The path of something in it.
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  char name_[sizeof("/tmp/ringdeal-test-XXXXXX")] = "/tmp/ringdeal-test-XXXXXX";
  const std::string path_;
};

}  // namespace ringdeal
