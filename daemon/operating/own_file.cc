#include "daemon/operating/own_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "protocol/unique_fd.h"

namespace ringdeal {
namespace {

constexpr off_t kMostBytes = 4 * 1024 * 1024;

Result<void> WriteAll(int file, const std::string& text) {
  for (size_t written = 0; written < text.size();) {
    const ssize_t bytes = write(file, text.data() + written, text.size() - written);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return SystemError{errno, "write"};
    written += static_cast<size_t>(bytes);
  }
  return {};
}

}  // namespace

Result<std::string> ReadOwnFile(const std::string& path) {
  // Not waiting for the writer of a fifo.
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return SystemError{errno, "open"};
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) return SystemError{errno, "fstat"};
  const bool only_ours = S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (!only_ours) return SystemError{EPERM, "somebody else may have written it"};
  if (status.st_size > kMostBytes) return SystemError{EFBIG, "fstat"};
  std::string text(static_cast<size_t>(status.st_size), '\0');
  const ssize_t bytes = read(file.get(), text.data(), text.size());
  if (bytes < 0) return SystemError{errno, "read"};
  text.resize(static_cast<size_t>(bytes));
  return text;
}

Result<void> ReplaceOwnFile(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  // What lies there is left from a crash, or not ours: a link would lead the text elsewhere.
  if (unlink(beside.c_str()) != 0 && errno != ENOENT) return SystemError{errno, "unlink"};
  const UniqueFd file(
      open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return SystemError{errno, "open"};
  if (const Result<void> written = WriteAll(file.get(), text); !written) return written;
  if (rename(beside.c_str(), path.c_str()) != 0) return SystemError{errno, "rename"};
  return {};
}

}  // namespace ringdeal
