/* Listens, accepts and closes before any library's constructor has run, and again after the last
 * destructor that the program itself has. Prints "port N" from main, serves one client there and
 * prints "ok". */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHECK(what)                                          \
  do {                                                       \
    if (!(what)) {                                           \
      fprintf(stderr, "line %d: %s: %m\n", __LINE__, #what); \
      _exit(1);                                              \
    }                                                        \
  } while (0)

static int listener = -1;
static int stale = -1;
static struct sockaddr_in address = {.sin_family = AF_INET};

static int Listen(void) {
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  socklen_t length = sizeof(address);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = 0;
  CHECK(bind(made, (struct sockaddr*)&address, length) == 0 && listen(made, 16) == 0);
  CHECK(getsockname(made, (struct sockaddr*)&address, &length) == 0);
  return made;
}

static void BeforeAllConstructors(void) {
  stale = Listen();
  CHECK(close(stale) == 0 && close(stale) == -1 && errno == EBADF);
  listener = Listen();
  CHECK(listener == stale);
  CHECK(accept4(listener, NULL, NULL, 0) == -1 && errno == EAGAIN);

  const int client = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(client, (struct sockaddr*)&address, sizeof(address)) == 0);
  const int connection = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  CHECK(connection >= 0);
  CHECK((fcntl(connection, F_GETFL) & O_NONBLOCK) != 0);
  CHECK((fcntl(connection, F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(close(connection) == 0 && close(client) == 0);
}

__attribute__((section(".preinit_array"),
               used)) static void (*const kEarly)(void) = &BeforeAllConstructors;

__attribute__((destructor)) static void AfterMain(void) {
  CHECK(accept4(listener, NULL, NULL, 0) == -1 && errno == EAGAIN);
  CHECK(close(listener) == 0);
  CHECK(fcntl(listener, F_GETFD) == -1 && errno == EBADF);
}

int main(void) {
  const int set = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  CHECK(epoll_ctl(set, EPOLL_CTL_ADD, listener, &event) == 0);
  printf("port %d\n", ntohs(address.sin_port));
  fflush(stdout);
  int connection = -1;
  while (connection < 0) {
    CHECK(epoll_wait(set, &event, 1, -1) == 1);
    connection = accept(listener, NULL, NULL);
  }
  CHECK(write(connection, "served\n", 7) == 7 && close(connection) == 0);
  puts("ok");
  return 0;
}
