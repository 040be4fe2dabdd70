#include <netinet/in.h>
#include <netinet/tcp.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "daemon/operating/address_holders.h"
#include "protocol/socket_address.h"

namespace ringdeal {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> WordsOf(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// Of each line of a table under /proc/net that `matches`, the word at `position`: an inode.
template <typename Matches>
void CollectInodes(const char* table, size_t position, Matches matches,
                   std::set<std::string>* inodes) {
  std::ifstream file(table);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = WordsOf(line);
    if (words.size() > position && matches(words)) inodes->insert(words[position]);
  }
}

// Of every local address: whoever listens on the port is in the way.
void CollectOfPort(in_port_t port, std::set<std::string>* inodes) {
  char suffix[8];
  std::snprintf(suffix, sizeof(suffix), ":%04X", ntohs(port));
  const auto listens = [&](const std::vector<std::string>& words) {
    return words[1].ends_with(suffix) && words[3] == "0A";
  };
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    CollectInodes(table, 9, listens, inodes);
  }
}

std::set<std::string> InodesOf(const std::string& text) {
  std::set<std::string> inodes;
  SocketAddress address;
  if (!ParseAddress(text.c_str(), &address)) return inodes;
  if (address.family() == AF_INET) {
    CollectOfPort(reinterpret_cast<const sockaddr_in*>(address.get())->sin_port, &inodes);
  } else if (address.family() == AF_INET6) {
    CollectOfPort(reinterpret_cast<const sockaddr_in6*>(address.get())->sin6_port, &inodes);
  } else {
    const std::string name = text.substr(sizeof("unix:") - 1);
    const auto is_it = [&](const std::vector<std::string>& words) { return words.back() == name; };
    CollectInodes("/proc/net/unix", 6, is_it, &inodes);
  }
  return inodes;
}

bool HoldsOne(const fs::path& process, const std::set<std::string>& inodes) {
  std::error_code error;
  for (const auto& descriptor : fs::directory_iterator(process / "fd", error)) {
    const std::string target = fs::read_symlink(descriptor, error).string();  // "socket:[123]"
    constexpr size_t kHead = sizeof("socket:[") - 1;
    if (!target.starts_with("socket:[")) continue;
    if (inodes.contains(target.substr(kHead, target.size() - kHead - 1))) return true;
  }
  return false;
}

}  // namespace

std::string HoldersOf(const std::string& address) {
  const std::set<std::string> inodes = InodesOf(address);
  std::string holders;
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    const std::string pid = process.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (!HoldsOne(process.path(), inodes)) continue;
    std::string name;
    std::getline(std::ifstream(process.path() / "comm"), name);
    holders += (holders.empty() ? "" : ", ") + name + " (" + pid + ")";
  }
  return holders;
}

}  // namespace ringdeal
