#include <linux/filter.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "protocol/new_clients.h"
#include "protocol/unique_fd.h"

namespace ringdeal {
namespace {

bool HasFilter(int socket) {
  socklen_t count = 0;  // asks for the number of instructions
  return getsockopt(socket, SOL_SOCKET, SO_GET_FILTER, nullptr, &count) == 0 && count > 0;
}

TEST(NewClients, AreLetInByWhoeverGoesOn) {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM, 0));
  TurnNewClientsAway(listener.get());
  EXPECT_TRUE(HasFilter(listener.get()));
  LetNewClientsIn(listener.get());
  EXPECT_FALSE(HasFilter(listener.get()));
}

TEST(NewClients, AProgramsOwnFilterIsNotTakenOff) {
  sock_filter all = BPF_STMT(BPF_RET | BPF_K, 0xffffffff);
  sock_filter many[6];
  for (sock_filter& each : many) each = all;
  for (const sock_fprog& filter : {sock_fprog{1, &all}, sock_fprog{5, many}, sock_fprog{6, many}}) {
    const UniqueFd listener(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(setsockopt(listener.get(), SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)), 0);
    LetNewClientsIn(listener.get());
    EXPECT_TRUE(HasFilter(listener.get())) << filter.len;
  }
}

TEST(NewClients, AUnixListenerHasNoFilter) {
  const UniqueFd listener(socket(AF_UNIX, SOCK_STREAM, 0));
  TurnNewClientsAway(listener.get());
  EXPECT_FALSE(HasFilter(listener.get()));
}

}  // namespace
}  // namespace ringdeal
