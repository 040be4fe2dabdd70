#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "daemon/operating/inherited_sockets.h"

namespace ringdeal {
namespace {

// What it makes of these variables, in a process of its own: as a text, so that the parent can say
// what is wrong.
std::string TakenBy(bool own_pid, const char* count, const char* names) {
  int answer[2];
  EXPECT_EQ(pipe(answer), 0);
  const pid_t child = fork();
  if (child == 0) {
    const int result = dup(answer[1]);
    const int given = socket(AF_INET, SOCK_STREAM, 0);
    dup2(given, 3);
    dup2(given, 4);
    fcntl(3, F_SETFD, 0);
    fcntl(4, F_SETFD, 0);
    setenv("LISTEN_PID", std::to_string(own_pid ? getpid() : getppid()).c_str(), 1);
    setenv("LISTEN_FDS", count, 1);
    setenv("LISTEN_FDNAMES", names, 1);
    std::string text;
    const auto sockets = TakeInheritedSockets({});
    for (const InheritedSocket& each : sockets) {
      const bool closes = (fcntl(each.descriptor.get(), F_GETFD) & FD_CLOEXEC) != 0;
      text += (each.stored ? "stored " : "") + each.name + "=" +
              std::to_string(each.descriptor.get()) + (closes ? " " : "! ");
    }
    for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) {
      if (getenv(name) != nullptr) text += std::string(name) + " is left ";
    }
    if (!TakeInheritedSockets({}).empty()) text += "taken twice";
    _exit(write(result, text.data(), text.size()) < 0);
  }
  close(answer[1]);
  char text[256] = "";
  std::string whole;
  for (ssize_t bytes = 0; (bytes = read(answer[0], text, sizeof(text))) > 0;) {
    whole.append(text, static_cast<size_t>(bytes));
  }
  close(answer[0]);
  waitpid(child, nullptr, 0);
  return whole;
}

TEST(InheritedSockets, AreTakenOnceAndTheVariablesForgotten) {
  EXPECT_EQ(TakenBy(true, "2", "web:other"), "web=3 other=4 ");
  EXPECT_EQ(TakenBy(true, "2", "web"), "web=3 unknown=4 ");
}

TEST(InheritedSockets, ThatAnEarlierRingdealdStoredAreToldFromThoseOfASocketUnit) {
  EXPECT_EQ(TakenBy(true, "2", "web:@web"), "web=3 stored web=4 ");
}

TEST(InheritedSockets, OfAnotherProcessAreNotTakenAndTheVariablesForgotten) {
  EXPECT_EQ(TakenBy(false, "2", "web:other"), "");
}

TEST(InheritedSockets, OfACountThatIsNoneAreNotTaken) {
  for (const char* count : {"", "0", "-1", "many"}) EXPECT_EQ(TakenBy(true, count, "web"), "");
}

}  // namespace
}  // namespace ringdeal
