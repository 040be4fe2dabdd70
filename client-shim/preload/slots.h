// What the program does with a descriptor number, as far as the shim has a say: the middle layer,
// between the exports and the tables. Each answers as the system call of its name does. Any thread,
// signal handlers too.
#pragma once

#include <sys/socket.h>

#include "client-shim/client/cleanup.h"
#include "client-shim/preload/real_calls.h"
#include "client-shim/preload/table.h"
#include "protocol/page.h"

namespace ringdeal::shim {

// accept.cc
using RealAccept = int (*)(int, sockaddr*, socklen_t*, int);
int Accept(int number, sockaddr* address, socklen_t* length, int flags, RealAccept real_accept);

// numbers.cc
// A number with this entry was closed or replaced; the entry is out of the table.
void EntryGone(Entry entry);
int Close(int number);
int CloseRange(unsigned first, unsigned last, int flags);
int Duplicate(int number);
int DuplicateTo(int from, int to, int flags);  // as dup3
int DuplicateOver(int from, int to);           // as dup2
int Control(int number, int command, long argument);
// fclose, or a freopen, of which `call` is the real one.
int CloseStream(FILE* stream);
FILE* ReopenStream(const char* path, const char* mode, FILE* stream,
                   decltype(real::freopen) reopen);

// socket_calls.cc
// The socket to ask about a slot: the real listener once something else is in its place.
int RealNumber(int number);
int GetName(int number, sockaddr* address, socklen_t* length);
int GetOption(int number, int level, int name, void* value, socklen_t* length);
int SetOption(int number, int level, int name, const void* value, socklen_t length);
int Shutdown(int number, int how);
int Connect(int number, const sockaddr* address, socklen_t length);
int IoControl(int number, unsigned long request, long argument);
int SetNonBlocking(int number, bool nonblocking);
// The IPv4 address as the IPv6 one that maps it, for a program that asked for IPv6.
void MapIpv4(sockaddr* address, socklen_t room, socklen_t* length);

// waits.cc
int EpollControl(int set, int operation, int number, epoll_event* event);
// The epoll set with this mark was closed.
void EpollSetGone(int mark);

// The listeners that a wait includes, one bit each; showing interest in those not joined yet.
unsigned WatchedBySet(int set);
unsigned WatchedByPoll(const pollfd* descriptors, nfds_t count);
unsigned WatchedBySelect(int count, const fd_set* readable);

// After a wait that had something to tell: looks whether ringdeald's end was it.
void NoticeEnd(unsigned watched);

// A thread's wait for connections, as its pages show it; also when it does not come back from it.
class WaitScope {
 public:
  explicit WaitScope(unsigned watched);
  // The wait goes on, and some of them may have a page only now.
  void Enter(unsigned watched);
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

 private:
  static void Leave(void* scope);

  static constexpr int kPages = 8;  // of a wait that includes more, the first

  bool Shows(const Page* page) const;

  Page* pages_[kPages];
  int count_ = 0;
  const int pid_;
  client::Cleanup cleanup_{&Leave, this};
};

}  // namespace ringdeal::shim
