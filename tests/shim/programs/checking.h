/* What the programs that check a listening descriptor from inside have in common. They are their
 * own clients: connect to a listener of the same process is answered by the kernel's accept queue.
 */
#ifndef RINGDEAL_TESTS_CHECKING_H
#define RINGDEAL_TESTS_CHECKING_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 10000

#define CHECK(condition)                                                                    \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      printf("line %d: %s, errno %d (%s)\n", __LINE__, #condition, errno, strerror(errno)); \
      exit(1);                                                                              \
    }                                                                                       \
  } while (0)

struct place {
  int listener;
  struct sockaddr_in address;
};

static inline struct place listen_somewhere(int nonblocking) {
  struct place place = {.address = {.sin_family = AF_INET}};
  socklen_t length = sizeof(place.address);
  struct sockaddr* address = (struct sockaddr*)&place.address;
  setvbuf(stdout, NULL, _IOLBF, 0);
  place.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  place.listener = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(bind(place.listener, address, length) == 0);
  CHECK(listen(place.listener, 512) == 0);
  CHECK(getsockname(place.listener, address, &length) == 0);
  if (nonblocking) CHECK(fcntl(place.listener, F_SETFL, O_NONBLOCK) == 0);
  return place;
}

static inline int connect_to(const struct place* place) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct sockaddr* address = (const struct sockaddr*)&place->address;
  CHECK(client >= 0);
  CHECK(connect(client, address, sizeof(place->address)) == 0);
  return client;
}

/* One request of a client: connects, and reads the answer to its end. */
static inline void ask(const struct place* place) {
  const int client = connect_to(place);
  struct pollfd watched = {client, POLLIN, 0};
  char answer[64];
  ssize_t bytes = 0;
  CHECK(poll(&watched, 1, PATIENCE_MS) == 1);
  CHECK((bytes = read(client, answer, sizeof(answer))) > 0);
  CHECK(answer[bytes - 1] == '\n');
  CHECK(read(client, answer, sizeof(answer)) == 0);
  close(client);
}

static inline void answer_and_close(int connection) {
  dprintf(connection, "%d\n", (int)getpid());
  close(connection);
}

/* Waits by poll until the non-blocking listener gives a connection. */
static inline int accept_patiently(int listener) {
  for (;;) {
    struct pollfd watched = {listener, POLLIN, 0};
    CHECK(poll(&watched, 1, PATIENCE_MS) == 1);
    const int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection >= 0) return connection;
    CHECK(errno == EAGAIN);
  }
}

static inline long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
