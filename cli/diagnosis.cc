#include "cli/diagnosis.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "cli/installation.h"

namespace ringdeal {
namespace {

constexpr double kLongPassSeconds = 0.05;  // of the default busy_after, 25 times: passed over

// A variable of the environment; empty if it is not set or not known.
std::string Variable(const ProcessFacts& facts, const char* name) {
  if (!facts.environment) return {};
  const auto found = facts.environment->find(name);
  return found == facts.environment->end() ? std::string() : found->second;
}

bool IsPermitted(uid_t uid, const std::vector<gid_t>& gids, const Permitted& permitted) {
  const auto contains = [](const auto& values, auto value) {
    return std::ranges::find(values, value) != values.end();
  };
  return contains(permitted.uids, uid) ||
         std::ranges::any_of(gids, [&](gid_t gid) { return contains(permitted.gids, gid); });
}

std::vector<std::string> SplitAt(const std::string& text, const std::string& separators) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(separators, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// As the shim reads RINGDEAL_LISTENERS.
bool IsExcluded(const std::string& address, const std::string& only) {
  if (only.empty()) return false;
  return std::ranges::none_of(SplitAt(only, ","), [&](const std::string& item) {
    return item == address || (item.front() == ':' && address.ends_with(item));
  });
}

// Collects what there is to say, the causes first.
class Examiner {
 public:
  Examiner(const ProcessFacts& facts, const AskedDealer& dealer) : facts_(facts), dealer_(dealer) {}

  Diagnosis Examine(const std::vector<pid_t>& descendants) {
    if (dealer_.status) {
      for (const ListenerView& listener : dealer_.status->listeners) {
        for (const WorkerView& worker : listener.workers) {
          if (worker.pid == facts_.pid) TellMembership(listener, worker);
        }
      }
      TellDescendants(descendants);
    } else {
      Say("no-ringdeald", dealer_.problem + ".");
    }
    TellProgram();
    TellEnvironment();
    if (!result_.dealt) TellConfinement();
    if (facts_.visible) TellListeners();
    return std::move(result_);
  }

 private:
  void Say(const char* code, std::string text) {
    result_.findings.push_back({code, std::move(text)});
  }

  void TellMembership(const ListenerView& listener, const WorkerView& worker) {
    joined_.push_back(listener.address);
    const std::string where = listener.name + " (" + listener.address + "): ";
    if (worker.state == "worker") {
      result_.dealt = true;
      Say("dealt", where + "it is dealt connections; " + std::to_string(worker.active) +
                       " are open, " + std::to_string(worker.handed) + " were handed to it.");
      TellManner(where, worker);
    } else if (worker.state == "observer") {
      Say("observer", where +
                          "it watches and has not accepted yet, so it is given nothing: a master "
                          "that forks on demand, or a server without a connection so far.");
    } else if (worker.state == "starting") {
      Say("starting", where + "it has registered and not said yet that it accepts.");
    } else if (worker.state == "paused") {
      Say("paused", where +
                        "it has stopped accepting for now: it watches no more, listens for "
                        "nobody, or is at its descriptor limit. It is given nothing until it goes "
                        "on.");
    } else if (worker.state == "draining") {
      Say("draining", where + "it is being drained; `ringdeal undrain` takes that back.");
    } else {
      Say("left", where + "it is leaving (" + worker.state + ").");
    }
    TellMode(where, listener.mode);
  }

  void TellManner(const std::string& where, const WorkerView& worker) {
    if (worker.one_at_a_time) {
      Say("one-at-a-time",
          where + "it blocks in accept, and is given a connection only while it waits there.");
    }
    if (worker.pass_seconds > kLongPassSeconds) {
      char seconds[32];
      std::snprintf(seconds, sizeof(seconds), "%.1f", worker.pass_seconds);
      Say("busy", where + "it has been busy for " + seconds +
                      " s without a look at its connections; others are preferred until it looks.");
    }
  }

  void TellMode(const std::string& where, const std::string& mode) {
    if (mode == "holding") {
      Say("holding", where +
                         "ringdeald accepts nothing now, since no worker may be given anything: "
                         "connections wait in the kernel.");
    } else if (mode == "resetting") {
      Say("resetting", where +
                           "no worker has registered for so long that ringdeald resets what "
                           "comes (no_worker: reset).");
    } else if (mode == "limited") {
      Say("limited", where +
                         "ringdeald accepts no faster than max_accept_rate: connections wait in "
                         "the kernel.");
    } else if (mode == "direct") {
      Say("direct", where +
                        "it has one worker, which accepts by itself: ringdeald deals again when "
                        "another comes.");
    } else if (mode == "paused") {
      Say("accept-failed", where +
                               "ringdeald's own accept failed for want of descriptors or memory; "
                               "see accept_errors in its status.");
    }
  }

  void TellDescendants(const std::vector<pid_t>& descendants) {
    size_t count = 0;
    for (const ListenerView& listener : dealer_.status->listeners) {
      count += static_cast<size_t>(std::ranges::count_if(listener.workers, [&](const auto& worker) {
        return worker.state == "worker" &&
               std::ranges::find(descendants, worker.pid) != descendants.end();
      }));
    }
    if (count == 0 || result_.dealt) return;
    result_.dealt = true;
    Say("master", "It is the master of " + std::to_string(count) +
                      " workers that are dealt connections, and takes none itself.");
  }

  void TellProgram() {
    if (!facts_.visible) {
      Say("not-visible", "This user may not look into it: run this as root or as user " +
                             std::to_string(facts_.uid) + ".");
      return;
    }
    if (facts_.linkage == Linkage::kGo) {
      Say("go",
          "It is written in Go, whose programs make system calls without the C library: the shim "
          "cannot reach it.");
    } else if (facts_.linkage == Linkage::kStatic) {
      Say("static", "It is linked statically: no preload library is loaded into it.");
    } else if (facts_.elevated) {
      Say("setuid",
          "It gained privileges when it was executed (setuid, setgid or file capabilities): the "
          "loader then ignores preload libraries.");
    } else if (facts_.has_shim == false) {
      TellWhyNoShim();
    } else if (facts_.has_shim == true) {
      Say("shim-loaded", "The shim is loaded.");
    }
    TellOtherPreloads();
  }

  void TellWhyNoShim() {
    for (const std::string& library : Preloads()) {
      if (!library.ends_with(kPreloadLibraryName)) continue;
      Say("preload-failed", "The loader was told to load " + library +
                                " and did not: missing or unreadable where the program runs, or "
                                "made for another C library. Its standard error said why.");
      return;
    }
    Say("shim-not-loaded",
        "The shim is not loaded: start the server by `ringdeal run -- COMMAND`, or with the "
        "drop-in of its unit. A program that cleans its environment before it executes another "
        "drops it too.");
  }

  std::vector<std::string> Preloads() const {
    return SplitAt(Variable(facts_, kPreloadVariable), ": ");
  }

  void TellOtherPreloads() {
    std::string others;
    for (const std::string& library : Preloads()) {
      if (library.ends_with(kPreloadLibraryName)) continue;
      others += (others.empty() ? "" : ", ") + library;
    }
    if (others.empty()) return;
    Say("other-preload", "Other preload libraries were asked for: " + others +
                             ". One that takes accept or close without passing it on hides them "
                             "from the shim.");
  }

  void TellEnvironment() {
    if (facts_.has_shim != true || result_.dealt) return;
    if (!facts_.environment) {
      Say("environment-unknown",
          "Its environment cannot be read any more (programs overwrite it to show a title), so "
          "what RINGDEAL_* said at its start is unknown.");
      return;
    }
    const std::string disabled = Variable(facts_, "RINGDEAL_DISABLE");
    if (!disabled.empty() && disabled != "0") {
      Say("disabled", "The shim was told to stay out: RINGDEAL_DISABLE is set.");
    }
    const std::string own = Variable(facts_, "RINGDEAL_CONTROL");
    if (own.empty() && facts_.uid != 0 && Variable(facts_, "XDG_RUNTIME_DIR").empty()) {
      Say("no-control",
          "It does not know where ringdeald is: set RINGDEAL_CONTROL, since it does not run as "
          "root and has no XDG_RUNTIME_DIR.");
    }
    if (!own.empty() && !dealer_.control.empty() && own != dealer_.control) {
      Say("other-control", "It belongs to another ringdeald: its RINGDEAL_CONTROL is " + own + ".");
    }
  }

  void TellConfinement() {
    if (facts_.uses_io_uring) {
      Say("io-uring",
          "It uses io_uring: connections that it accepts so pass the shim by. Many servers have a "
          "setting for epoll.");
    }
    if (facts_.has_seccomp_filter) {
      Say("seccomp",
          "A seccomp filter is installed: the shim needs socket, connect, sendmsg, recvmsg, "
          "memory maps and epoll in the processes that accept.");
    }
    if (facts_.has_other_root) {
      Say("other-root",
          "Its root directory is another one: unless it joined before, it finds ringdeald by the "
          "abstract address of the control socket only.");
    }
    if (facts_.has_other_network) {
      Say("other-network",
          "It is in another network namespace: abstract addresses do not reach ringdeald from "
          "there, so the path of the control socket must.");
    }
  }

  void TellListeners() {
    if (facts_.listeners.empty() && joined_.empty()) TellWhyNoListener();
    for (const HeldListener& held : facts_.listeners) {
      if (std::ranges::find(joined_, held.address) == joined_.end()) TellNotJoined(held);
    }
  }

  void TellWhyNoListener() {
    Say("no-listener", "It listens on nothing.");
    if (!dealer_.status) return;
    for (const ListenerView& listener : dealer_.status->listeners) {
      if (!listener.owned || IsPermitted(facts_.uid, facts_.gids, listener.allow)) continue;
      Say("not-allowed", "User " + std::to_string(facts_.uid) + " may not bind " +
                             listener.address + ", which ringdeald owns: see `allow` of listener " +
                             listener.name + ".");
    }
  }

  void TellNotJoined(const HeldListener& held) {
    if (result_.dealt && facts_.has_shim == true) return;  // a master, or dealt elsewhere
    if (IsExcluded(held.address, Variable(facts_, "RINGDEAL_LISTENERS"))) {
      Say("excluded", held.address + ": its RINGDEAL_LISTENERS does not name this address.");
      return;
    }
    if (!dealer_.status) {
      Say("listens", held.address + ": it listens here.");
      return;
    }
    const auto& listeners = dealer_.status->listeners;
    const auto known = std::ranges::find(listeners, held.address, &ListenerView::address);
    if (known != listeners.end()) {
      Say("not-joined", held.address + ": ringdeald deals this address (" + known->name +
                            ") and has not heard of this process: it has not accepted yet, or "
                            "does so without the shim.");
    } else if (!IsPermitted(held.maker.value_or(facts_.uid), facts_.gids, dealer_.status->adopt)) {
      Say("not-authorised", held.address + ": ringdeald adopts no listeners of user " +
                                std::to_string(held.maker.value_or(facts_.uid)) +
                                ": see `adopt` in its configuration.");
    } else {
      Say("unknown-listener", held.address +
                                  ": ringdeald does not know this listener. Under the shim it "
                                  "hears of it when the first process watches it or accepts.");
    }
  }

  const ProcessFacts& facts_;
  const AskedDealer& dealer_;
  std::vector<std::string> joined_;  // addresses
  Diagnosis result_;
};

}  // namespace

Diagnosis Diagnose(const ProcessFacts& facts, const AskedDealer& dealer,
                   const std::vector<pid_t>& descendants) {
  return Examiner(facts, dealer).Examine(descendants);
}

Diagnosis DiagnoseMissing(pid_t pid) {
  return {.dealt = false,
          .findings = {{"no-process", "there is no process " + std::to_string(pid) + "."}}};
}

std::string ControlOf(const ProcessFacts& facts) { return Variable(facts, "RINGDEAL_CONTROL"); }

}  // namespace ringdeal
