// A thread's stay in a member: while it lasts, no number that the thread may have read is closed.
#pragma once

#include "client-shim/client/member.h"

namespace ringdeal::client {

class Member::Use {
 public:
  explicit Use(Member* member) : member_(member) { member_->users_.fetch_add(1); }
  ~Use() {
    if (member_->users_.fetch_sub(1) == 1) member_->Reap();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  Member* member_;
};

}  // namespace ringdeal::client
