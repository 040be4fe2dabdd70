/* Waits by the checked forms of poll, ppoll and select that distributions compile their servers
 * with. Prints "port N", serves one client after each wait and prints "ok". */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#define _FORTIFY_SOURCE 2
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static int listener = -1;

/* The checks are left out where the compiler can do them itself. */
static volatile nfds_t count = 1;

static int ByPoll(void) {
  struct pollfd watched[1] = {{.fd = listener, .events = POLLIN}};
  return poll(watched, count, -1);
}

static int ByPpoll(void) {
  struct pollfd watched[1] = {{.fd = listener, .events = POLLIN}};
  return ppoll(watched, count, NULL, NULL);
}

static int BySelect(void) {
  fd_set readable;
  FD_ZERO(&readable);
  FD_SET(listener, &readable);
  return select(listener + 1, &readable, NULL, NULL, NULL);
}

static void ServeOne(int (*wait)(void)) {
  int connection = -1;
  while (connection < 0) {
    if (wait() != 1) exit(2);
    connection = accept(listener, NULL, NULL);
  }
  if (write(connection, "served\n", 7) != 7) exit(3);
  close(connection);
}

int main(void) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t length = sizeof(address);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (bind(listener, (struct sockaddr*)&address, length) != 0 || listen(listener, 16) != 0)
    return 1;
  getsockname(listener, (struct sockaddr*)&address, &length);
  printf("port %d\n", ntohs(address.sin_port));
  fflush(stdout);
  ServeOne(&ByPoll);
  ServeOne(&ByPpoll);
  ServeOne(&BySelect);
  puts("ok");
  return 0;
}
