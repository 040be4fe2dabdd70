#include <algorithm>
#include <cstring>

#include "client-shim/preload/handing_on.h"
#include "client-shim/preload/listener.h"
#include "client-shim/preload/real_calls.h"

namespace ringdeal::shim {
namespace {

// How the GNU C library keeps file actions. Its functions add to them, and none copies: what one of
// them has just added is looked at before this is believed.
struct FileAction {
  int kind;
  alignas(8) int from;
  int to;
  void* more[2];
};
struct FileActions {
  int allocated;
  int used;
  FileAction* all;
};
static_assert(sizeof(FileActions) <= sizeof(posix_spawn_file_actions_t));

constexpr int kDup2 = 1;

// The program's file actions with others in front, which put the sockets back.
class ActionsWithSockets {
 public:
  explicit ActionsWithSockets(const posix_spawn_file_actions_t* theirs) : theirs_(theirs) {
    for (int number = 0; number < listeners::EndOfNumbers(); ++number) PutBack(number);
    usable_ = made_ && (theirs == nullptr || Append(*reinterpret_cast<const FileActions*>(theirs)));
  }
  ~ActionsWithSockets() {
    if (!made_) return;
    if (usable_) view()->used = leading_;  // what the others point to is the program's
    posix_spawn_file_actions_destroy(&copy_);
  }
  ActionsWithSockets(const ActionsWithSockets&) = delete;
  ActionsWithSockets& operator=(const ActionsWithSockets&) = delete;

  const posix_spawn_file_actions_t* get() const { return usable_ ? &copy_ : theirs_; }

 private:
  FileActions* view() { return reinterpret_cast<FileActions*>(&copy_); }

  void PutBack(int number) {
    const int socket = SocketBehind(number);
    if (socket < 0) return;
    if (!made_) made_ = posix_spawn_file_actions_init(&copy_) == 0;
    if (!made_ || !IsPassedOn(number)) return;
    if (posix_spawn_file_actions_adddup2(&copy_, socket, number) == 0) ++leading_;
  }

  bool Append(const FileActions& theirs) {
    constexpr int kSample[] = {1, 2};
    const int room = std::max(theirs.used, 2);  // two, to see where the second one is
    for (int i = 0; i < room; ++i) {
      if (posix_spawn_file_actions_adddup2(&copy_, kSample[0], kSample[1]) != 0) return false;
    }
    if (view()->used != leading_ + room) return false;
    FileAction* appended = view()->all + leading_;
    for (int i = 0; i < 2; ++i) {
      const FileAction& one = appended[i];
      if (one.kind != kDup2 || one.from != kSample[0] || one.to != kSample[1]) return false;
    }
    if (theirs.used > 0) std::memcpy(appended, theirs.all, sizeof(FileAction) * theirs.used);
    view()->used = leading_ + theirs.used;
    for (int i = 0; i < theirs.used; ++i) TakeFromSocket(&appended[i]);
    return true;
  }

  // A number that is close-on-exec is not put back, but may be the source of one that is not.
  static void TakeFromSocket(FileAction* action) {
    if (action->kind != kDup2 || IsPassedOn(action->from)) return;
    const int socket = SocketBehind(action->from);
    if (socket >= 0) action->from = socket;
  }

  const posix_spawn_file_actions_t* theirs_;
  posix_spawn_file_actions_t copy_ = {};
  bool made_ = false;
  bool usable_ = false;
  int leading_ = 0;
};

}  // namespace

int Spawn(RealSpawn real_spawn, pid_t* pid, const char* program,
          const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
          char* const* arguments, char* const* environment) {
  const ActionsWithSockets with_sockets(actions);
  return real_spawn(pid, program, with_sockets.get(), attributes, arguments, environment);
}

}  // namespace ringdeal::shim
