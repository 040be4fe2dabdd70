/* A server at its descriptor limit. full HOW; a step for each SIGUSR1:
 *   1. It waits and accepts until it has no number left: "full".
 *   2. It closes a number, HOW close, or, HOW unseen, where no hook can see it: "closed".
 *   3. It waits and accepts on; says "taken" for each connection. */
#define _GNU_SOURCE
#include <mqueue.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "checking.h"

static sigset_t mask;

static void step(void) {
  int number = 0;
  CHECK(sigwait(&mask, &number) == 0);
}

int main(int argc, char** argv) {
  const struct rlimit limit = {64, 64};
  CHECK(argc == 2 && setrlimit(RLIMIT_NOFILE, &limit) == 0);
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  sigprocmask(SIG_BLOCK, &mask, NULL);
  const struct place place = listen_somewhere(1);
  struct epoll_event event = {EPOLLIN, {.fd = place.listener}};
  const int set = epoll_create1(EPOLL_CLOEXEC);
  CHECK(epoll_ctl(set, EPOLL_CTL_ADD, place.listener, &event) == 0);
  CHECK(accept(place.listener, NULL, NULL) == -1 && errno == EAGAIN);
  const int first = open("/dev/null", O_RDONLY);
  while (open("/dev/null", O_RDONLY) >= 0) continue;
  printf("port %d\n", ntohs(place.address.sin_port));
  for (;;) {
    CHECK(epoll_wait(set, &event, 1, -1) == 1);
    const int connection = accept4(place.listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection >= 0) {
      answer_and_close(connection);
      printf("taken\n");
      continue;
    }
    if (errno == EAGAIN) continue;
    CHECK(errno == EMFILE);
    printf("full\n");
    step();
    if (strcmp(argv[1], "close") == 0)
      close(first);
    else
      mq_close(first); /* inside of the C library the system call of close */
    printf("closed\n");
    step();
  }
}
