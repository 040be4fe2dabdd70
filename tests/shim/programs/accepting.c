/* What accept answers: flags, addresses, errors. Prints "ok". */
#define _GNU_SOURCE
#include <netinet/tcp.h>

#include "checking.h"

static void every_flag(const struct place* place) {
  const int flags[] = {0, SOCK_NONBLOCK, SOCK_CLOEXEC, SOCK_NONBLOCK | SOCK_CLOEXEC};
  for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); ++i) {
    const int client = connect_to(place);
    struct pollfd watched = {place->listener, POLLIN, 0};
    int connection = -1;
    while (connection < 0) {
      CHECK(poll(&watched, 1, PATIENCE_MS) == 1);
      connection = accept4(place->listener, NULL, NULL, flags[i]);
      if (connection < 0) CHECK(errno == EAGAIN);
    }
    CHECK(!(fcntl(connection, F_GETFL) & O_NONBLOCK) == !(flags[i] & SOCK_NONBLOCK));
    CHECK(!(fcntl(connection, F_GETFD) & FD_CLOEXEC) == !(flags[i] & SOCK_CLOEXEC));
    CHECK((fcntl(connection, F_GETFL) & O_ACCMODE) == O_RDWR);
    close(connection);
    close(client);
  }
  CHECK(accept4(place->listener, NULL, NULL, 1 << 20) == -1 && errno == EINVAL);
  CHECK(accept4(place->listener, NULL, NULL, 0) == -1 && errno == EAGAIN);
}

static void every_room_for_the_address(const struct place* place) {
  for (socklen_t room = 0; room <= 64; room += 4) {
    const int client = connect_to(place);
    struct sockaddr_in own;
    socklen_t own_length = sizeof(own), length = room;
    unsigned char address[64], untouched[64];
    memset(address, 0xee, sizeof(address));
    memset(untouched, 0xee, sizeof(untouched));
    struct pollfd watched = {place->listener, POLLIN, 0};
    CHECK(poll(&watched, 1, PATIENCE_MS) == 1);
    const int connection = accept(place->listener, (struct sockaddr*)address, &length);
    CHECK(connection >= 0);
    CHECK(getsockname(client, (struct sockaddr*)&own, &own_length) == 0);
    CHECK(length == sizeof(own));
    const size_t told = room < sizeof(own) ? room : sizeof(own);
    CHECK(memcmp(address, &own, told) == 0);
    CHECK(memcmp(address + told, untouched, sizeof(untouched) - told) == 0);
    close(connection);
    close(client);
  }
}

static void negative_room(const struct place* place) {
  struct sockaddr_in address;
  socklen_t length = (socklen_t)-1;
  const int client = connect_to(place);
  struct pollfd watched = {place->listener, POLLIN, 0};
  CHECK(poll(&watched, 1, PATIENCE_MS) == 1);
  CHECK(accept(place->listener, (struct sockaddr*)&address, &length) == -1 && errno == EINVAL);
  close(client);
  /* The kernel loses the connection over it; who does not has it still. */
  close(accept(place->listener, NULL, NULL));
}

static void errors(const struct place* place) {
  int pipes[2];
  CHECK(pipe(pipes) == 0);
  CHECK(accept(pipes[0], NULL, NULL) == -1 && errno == ENOTSOCK);
  CHECK(accept(-1, NULL, NULL) == -1 && errno == EBADF);
  CHECK(accept(pipes[1] + 50, NULL, NULL) == -1 && errno == EBADF);
  const int unbound = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(accept(unbound, NULL, NULL) == -1 && errno == EINVAL);
  const int datagrams = socket(AF_INET, SOCK_DGRAM, 0);
  CHECK(accept(datagrams, NULL, NULL) == -1 && errno == EOPNOTSUPP);
  CHECK(listen(datagrams, 5) == -1 && errno == EOPNOTSUPP);
  char byte = 0;
  CHECK(read(place->listener, &byte, 1) == -1);
  CHECK(send(place->listener, &byte, 1, MSG_NOSIGNAL) == -1);
}

/* A listening descriptor is told as one after the program has watched it, too. */
static void what_is_told_of_it(const struct place* place) {
  struct tcp_info info;
  socklen_t length = sizeof(info);
  CHECK(getsockopt(place->listener, IPPROTO_TCP, TCP_INFO, &info, &length) == 0);
  CHECK(info.tcpi_state == 10);   /* LISTEN */
  CHECK(info.tcpi_sacked == 512); /* the backlog */
  CHECK(info.tcpi_unacked == 0);  /* what waits in the accept queue */
  CHECK(connect(place->listener, (const struct sockaddr*)&place->address, sizeof(place->address)) ==
        -1);
}

int main(void) {
  const struct place place = listen_somewhere(1);
  what_is_told_of_it(&place);
  every_flag(&place);
  every_room_for_the_address(&place);
  negative_room(&place);
  errors(&place);
  what_is_told_of_it(&place);
  printf("ok\n");
  return 0;
}
