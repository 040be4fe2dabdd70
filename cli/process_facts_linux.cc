#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <unordered_set>

#include "cli/executable_linux.h"
#include "cli/installation.h"
#include "cli/proc_files_linux.h"
#include "cli/process_facts.h"
#include "cli/processes.h"
#include "protocol/socket_address.h"

namespace ringdeal {
namespace {

constexpr size_t kMostWords = 8;
constexpr unsigned kListensFlag = 1U << 16;  // of a line of /proc/net/unix
constexpr char kIoUring[] = "anon_inode:[io_uring]";

std::vector<std::string> SplitAtZeros(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    parts.emplace_back(text.c_str() + at);
    at += parts.back().size() + 1;
  }
  return parts;
}

bool IsVariable(const std::string& entry) {
  const size_t name_end = entry.find('=');
  if (name_end == std::string::npos || name_end == 0) return false;
  return std::all_of(entry.begin(), entry.begin() + static_cast<ptrdiff_t>(name_end),
                     [](unsigned char c) { return std::isgraph(c) != 0; });
}

// A title that a program wrote over its arguments runs on into its environment: what is not all
// variables is believed in nothing.
std::optional<std::map<std::string, std::string>> EnvironmentIn(const std::string& text) {
  std::map<std::string, std::string> variables;
  for (const std::string& entry : SplitAtZeros(text)) {
    if (!IsVariable(entry)) return std::nullopt;
    const size_t name_end = entry.find('=');
    variables.emplace(entry.substr(0, name_end), entry.substr(name_end + 1));
  }
  if (variables.empty()) return std::nullopt;
  return variables;
}

// The names of the files that are mapped, each once.
std::vector<std::string> MappedFiles(const std::string& maps) {
  std::vector<std::string> names;
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    const size_t slash = line.rfind('/');
    if (slash == std::string::npos) continue;
    std::string name = line.substr(slash + 1);
    name = name.substr(0, name.find(' '));  // what follows says that it was deleted
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

bool IsElevated(const std::string& auxiliary) {
  for (size_t at = 0; at + 2 * sizeof(unsigned long) <= auxiliary.size();
       at += 2 * sizeof(unsigned long)) {
    unsigned long entry[2];
    std::memcpy(entry, auxiliary.data() + at, sizeof(entry));
    if (entry[0] == AT_SECURE) return entry[1] != 0;
  }
  return false;
}

bool IsSameFile(const std::string& one, const std::string& other) {
  struct stat first = {};
  struct stat second = {};
  return stat(one.c_str(), &first) != 0 || stat(other.c_str(), &second) != 0 ||
         (first.st_dev == second.st_dev && first.st_ino == second.st_ino);
}

// Words of the lines of /proc/PID/status.
void ReadStatusFile(const std::string& text, ProcessFacts* facts) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    unsigned long real = 0;
    unsigned long effective = 0;
    words >> key;
    if (key == "Uid:" && words >> real >> effective) facts->uid = static_cast<uid_t>(effective);
    if (key == "Gid:" && words >> real >> effective) {
      facts->gids.push_back(static_cast<gid_t>(effective));
    }
    if (key == "Groups:") {
      for (gid_t gid = 0; words >> gid;) facts->gids.push_back(gid);
    }
    // 1 is the strict mode, in which no server could run.
    if (key == "Seccomp:") facts->has_seccomp_filter = words >> real && real != 0;
  }
}

// One line of /proc/net/tcp or tcp6; the words of an address are in the machine's byte order.
std::optional<HeldListener> InternetListenerIn(const char* line) {
  char host[33] = "";
  unsigned port = 0;
  unsigned state = 0;
  unsigned uid = 0;
  unsigned long long inode = 0;
  if (std::sscanf(line, " %*d: %32[0-9A-F]:%X %*[0-9A-F]:%*X %X %*s %*s %*s %u %*d %llu", host,
                  &port, &state, &uid, &inode) != 5 ||
      state != TCP_LISTEN) {
    return std::nullopt;
  }
  uint32_t words[4] = {};
  const size_t count = std::strlen(host) / 8;
  for (size_t i = 0; i < count; ++i) {
    words[i] =
        static_cast<uint32_t>(std::strtoul(std::string(host + 8 * i, 8).c_str(), nullptr, 16));
  }
  SocketAddress address;
  if (count == 1) {
    sockaddr_in in = {};
    in.sin_family = AF_INET;
    in.sin_port = htons(static_cast<in_port_t>(port));
    std::memcpy(&in.sin_addr, words, sizeof(in.sin_addr));
    std::memcpy(&address.storage, &in, address.length = sizeof(in));
  } else {
    sockaddr_in6 in = {};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(static_cast<in_port_t>(port));
    std::memcpy(&in.sin6_addr, words, sizeof(in.sin6_addr));
    std::memcpy(&address.storage, &in, address.length = sizeof(in));
  }
  char text[kMaxAddressText];
  if (!FormatAddress(address, text, sizeof(text))) return std::nullopt;
  return HeldListener{inode, text, uid};
}

std::optional<HeldListener> UnixListenerIn(const char* line) {
  unsigned flags = 0;
  unsigned long long inode = 0;
  int path = 0;
  if (std::sscanf(line, "%*[^:]: %*X %*X %X %*X %*X %llu %n", &flags, &inode, &path) != 2 ||
      (flags & kListensFlag) == 0) {
    return std::nullopt;
  }
  return HeldListener{inode, std::string("unix:") + (line + path), std::nullopt};
}

// In the process's own network namespace, which socket diagnostics from here would not reach.
std::vector<HeldListener> ListenersAmong(const std::unordered_set<SocketId>& held, pid_t pid) {
  std::vector<HeldListener> listeners;
  for (const char* table : {"net/tcp", "net/tcp6", "net/unix"}) {
    std::istringstream lines(ReadProc(pid, table).value_or(""));
    const bool is_unix = std::strcmp(table, "net/unix") == 0;
    for (std::string line; std::getline(lines, line);) {
      auto found = is_unix ? UnixListenerIn(line.c_str()) : InternetListenerIn(line.c_str());
      if (found && held.contains(found->id)) listeners.push_back(std::move(*found));
    }
  }
  return listeners;
}

void LookAtDescriptors(ProcessFacts* facts) {
  const std::string directory = ProcPath(facts->pid, "fd/");
  std::unordered_set<SocketId> held;
  ForEachEntry(directory, [&](const char* name) {
    const std::string target = ReadLink(directory + name);
    if (const SocketId socket = SocketOfLink(target); socket != 0) held.insert(socket);
    if (target == kIoUring) facts->uses_io_uring = true;
  });
  facts->listeners = ListenersAmong(held, facts->pid);
}

}  // namespace

std::optional<ProcessFacts> LookAt(pid_t pid) {
  const std::optional<std::string> status = ReadProc(pid, "status");
  if (!status) return std::nullopt;
  ProcessFacts facts;
  facts.pid = pid;
  facts.name = NameOf(pid);
  ReadStatusFile(*status, &facts);
  facts.words = SplitAtZeros(ReadProc(pid, "cmdline").value_or(""));
  if (facts.words.size() > kMostWords) facts.words.resize(kMostWords);

  const std::optional<std::string> maps = ReadProc(pid, "maps");
  facts.visible = maps.has_value();
  if (!facts.visible) return facts;
  facts.files = MappedFiles(*maps);
  facts.has_shim =
      std::find(facts.files.begin(), facts.files.end(), kPreloadLibraryName) != facts.files.end();
  facts.linkage = LinkageOf(ProcPath(pid, "exe"));
  facts.elevated = IsElevated(ReadProc(pid, "auxv").value_or(""));
  facts.environment = EnvironmentIn(ReadProc(pid, "environ").value_or(""));
  facts.has_other_root = !IsSameFile(ProcPath(pid, "root/."), "/");
  facts.has_other_network = !IsSameFile(ProcPath(pid, "ns/net"), "/proc/self/ns/net");
  LookAtDescriptors(&facts);
  return facts;
}

}  // namespace ringdeal
