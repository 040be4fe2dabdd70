// server PORT WORKERS [pinned]: a prefork server, each worker with an epoll set. It says to each
// client who serves it and where, and closes when the client does. Worker N begins on CPU N;
// "pinned": and stays there.
#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pinning.h"

// Anywhere, as far as its affinity goes.
static void Unpin(void) {
  cpu_set_t all;
  memset(&all, 0xff, sizeof(all));
  if (sched_setaffinity(0, sizeof(all), &all) != 0) Fail("sched_setaffinity");
}

static void Watch(int set, int descriptor) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
  if (epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) != 0) Fail("epoll_ctl");
}

static void Greet(int connection, int cpu) {
  int receiving = -1;
  socklen_t length = sizeof(receiving);
  if (getsockopt(connection, SOL_SOCKET, SO_INCOMING_CPU, &receiving, &length) != 0) {
    Fail("SO_INCOMING_CPU");
  }
  dprintf(connection, "\"receiving\":%d,\"worker\":%d,\"cpu\":%d\n", receiving, (int)getpid(), cpu);
}

static void Serve(int listener) {
  const int set = epoll_create1(0);
  Watch(set, listener);
  for (;;) {
    struct epoll_event event;
    if (epoll_wait(set, &event, 1, -1) != 1) continue;
    if (event.data.fd != listener) {
      close(event.data.fd);
      continue;
    }
    const int connection = accept(listener, NULL, NULL);
    const int cpu = sched_getcpu();
    if (connection < 0) continue;
    Greet(connection, cpu);
    Watch(set, connection);
  }
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((unsigned short)atoi(arguments[1])),
                                      .sin_addr = {htonl(INADDR_LOOPBACK)}};
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (bind(listener, (const struct sockaddr*)&address, sizeof(address)) != 0) Fail("bind");
  if (listen(listener, 1024) != 0) Fail("listen");
  for (int worker = 0; worker < atoi(arguments[2]); ++worker) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    PinTo(worker);
    if (count == 3) Unpin();
    Serve(listener);
  }
  while (wait(NULL) > 0) {
  }
}
