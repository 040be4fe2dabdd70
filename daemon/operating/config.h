// What an operator can say to ringdeald, with its defaults. config_keys.h says it in the words of
// the file. Plain values, made at start and at a reload on the control thread, which alone sees
// those in force.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace ringdeal {

using Duration = std::chrono::nanoseconds;

// Users and groups, by number. In the file: a list of user names or uids, and "@group" or "@gid".
struct Principals {
  std::vector<uid_t> uids;
  std::vector<gid_t> gids;
  bool operator==(const Principals&) const = default;
};

struct ListenerConfig {
  std::string name;
  // "127.0.0.1:8080", "[::]:443", "*:80", "unix:/run/app.sock", "unix:@name".
  std::string bind;
  bool ipv6_only = false;  // IPV6_V6ONLY of an IPv6 address
  int backlog = 4096;      // limit of the accept queue; the kernel cuts it to somaxconn
  mode_t mode = 0660;      // of a UNIX socket's path
  std::string owner;       // of a UNIX socket's path; empty: as created
  std::string group;       // of a UNIX socket's path; empty: as created
  std::string policy = "ring-deal";
  // How far above the least loaded the worker of ring-deal's choice may be: connections, or percent
  // of the mean load, whichever is more.
  int slack = 1;
  double slack_percent = 12.5;
  std::string coverage = "all";  // of exact-claim: any, all
  // In one pass for longer, without taking anything: loses ties; 25 times as long: passed over.
  Duration busy_after = std::chrono::milliseconds(2);
  // A connection that its worker has not taken for so long goes to another, if that worker shows no
  // progress and another is free.
  Duration recall_after = std::chrono::milliseconds(5);
  // In one pass for longer, a worker is reported as stuck, once a pass; nothing is done to it.
  Duration stuck_after = std::chrono::seconds(30);
  // A worker that comes counts with a part of its weight first, which grows for so long. 0: at once
  // with all of it.
  Duration slow_start = Duration(0);
  // The most load (connections, and work that it says it holds) of one worker, and of all together:
  // beyond, connections wait in the kernel. 0: no limit.
  size_t max_active_per_worker = 0;
  size_t max_active = 0;
  // The most connections accepted in a second: beyond, they wait in the kernel. 0: no limit.
  size_t max_accept_rate = 0;
  // What becomes of connections while there is no worker: hold, or reset once the first of them has
  // found none for hold_timeout.
  std::string no_worker = "hold";
  Duration hold_timeout = std::chrono::seconds(30);
  bool share_listener = true;  // workers get the listener itself, so that they can fail open
  std::string agent;           // where HAProxy's agent check is answered; empty: nowhere
  // Who may bind the address under the shim or register without holding the listener. Root and
  // ringdeald's own user always may.
  Principals allow;
  bool operator==(const ListenerConfig&) const = default;
};

// Whether connections may have to wait though a worker could take them: then none may be accepted
// but by ringdeald.
inline bool HasLimits(const ListenerConfig& listener) {
  return listener.max_active_per_worker != 0 || listener.max_active != 0 ||
         listener.max_accept_rate != 0;
}

struct ControlConfig {
  std::string path;    // empty: DefaultControlPath
  mode_t mode = 0666;  // openness is not permission: each act is authorised by itself
  std::string owner;
  std::string group;
  Principals admin;  // who may drain and reload, beside root and ringdeald's own user
  bool operator==(const ControlConfig&) const = default;
};

// Whose listeners may be adopted.
struct AdoptConfig {
  bool enabled = true;
  bool listed = false;    // false: root, ringdeald's own user and the group "ringdeal"
  Principals principals;  // if listed
  bool operator==(const AdoptConfig&) const = default;
};

struct Limits {
  size_t workers = 1024;                                    // of one listener
  size_t control_connections = 4096;                        // in all
  size_t control_connections_per_uid = 2048;                // of one user that is not root
  size_t channel_depth = 128;                               // connections that wait in one channel
  Duration registration_timeout = std::chrono::seconds(5);  // of a connection that says nothing
  bool operator==(const Limits&) const = default;
};

struct LogConfig {
  std::string level = "info";     // debug, info, warn, error
  std::string format = "logfmt";  // logfmt, json
  bool operator==(const LogConfig&) const = default;
};

struct Config {
  std::string source;  // the file it was read from; empty: none, all defaults
  ControlConfig control;
  std::string http_bind = "127.0.0.1:9945";  // empty: no HTTP
  std::vector<ListenerConfig> listeners;
  AdoptConfig adopt;
  ListenerConfig adopted;  // what adopted listeners have of it: config_keys.cc
  int acceptors = 1;       // acceptor threads
  std::string topology;    // empty: of the running machine
  // After so long a connection counts half for what its CPU receives.
  Duration receive_half_life = std::chrono::seconds(10);
  Duration drain_timeout = std::chrono::seconds(30);  // at stop: how long held connections may wait
  // At stop, of owned listeners: direct, workers go on with them; close, clients are refused.
  std::string on_stop = "direct";
  Duration reclaim_timeout = std::chrono::seconds(10);  // before saying who holds an owned address
  LogConfig log;
  Limits limits;
  bool operator==(const Config&) const = default;
};

}  // namespace ringdeal
