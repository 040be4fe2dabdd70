// The files under /proc about one process. Linux only. Main thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "cli/socket_owner.h"

namespace ringdeal {

std::string ProcPath(pid_t pid, const char* file);

// All of the file; nullopt if it cannot be read.
std::optional<std::string> ReadProc(pid_t pid, const char* file);

// Where the link leads, empty if it cannot be read.
std::string ReadLink(const std::string& path);

// The socket to which the link of a descriptor leads, 0 if it leads to something else.
SocketId SocketOfLink(const std::string& target);

// Calls `each` with the name of every entry of the directory. Returns 0 or the errno with which it
// could not be opened.
int ForEachEntry(const std::string& path, const std::function<void(const char*)>& each);

}  // namespace ringdeal
