// Member::Use, for those who take numbers from a member.
#pragma once

#include <cerrno>

#include "client-shim/client/cleanup.h"
#include "client-shim/client/member.h"
#include "client-shim/client/page_writer.h"
#include "client-shim/client/process.h"

namespace ringdeal::client {

class Member::Use {
 public:
  explicit Use(Member* member) : member_(member), forks_(member->BeginUse()) {}
  ~Use() { member_->EndUse(forks_); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  Member* const member_;
  const int forks_;
};

// One that blocks, and from which the thread may not come back.
class Member::BlockingUse {
 public:
  explicit BlockingUse(Member* member)
      : member_(member), forks_(member->BeginUse()), cleanup_(&End, this) {}
  BlockingUse(const BlockingUse&) = delete;
  BlockingUse& operator=(const BlockingUse&) = delete;

  // Shows in the page that the thread waits.
  void Show(Page* page) {
    client::EnterWait(page, member_->control());
    page_ = page;
  }

 private:
  static void End(void* context) {
    auto* self = static_cast<BlockingUse*>(context);
    const int saved_errno = errno;
    // A signal handler may have forked: in the child the wait that is counted is the parent's.
    NoticeFork();
    if (self->page_ != nullptr && self->member_->forks_.load() == self->forks_) {
      LeaveWait(self->page_);
    }
    self->member_->EndUse(self->forks_);
    errno = saved_errno;
  }

  Member* const member_;
  const int forks_;
  Page* page_ = nullptr;
  const Cleanup cleanup_;
};

}  // namespace ringdeal::client
