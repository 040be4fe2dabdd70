/* A thread waits for connections and does not come back from it. abandon HOW WAIT; a step for each
 * SIGUSR1:
 *   1. HOW cancel: another thread that waits is cancelled; jump: SIGUSR2 makes the handler jump out
 * of the wait. Prints "left".
 *   2. One connection is served, by the same WAIT.
 *   3. The listener is closed. Prints "closed".
 * WAIT: accept, poll, ppoll, select, pselect, epoll_wait, epoll_pwait. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "checking.h"

static struct place place;
static const char* kind;
static sigjmp_buf outside;
static int set = -1;

static int is(const char* name) { return strcmp(kind, name) == 0; }

static void wait_once(void) {
  struct pollfd watched = {place.listener, POLLIN, 0};
  struct epoll_event event;
  fd_set readable;
  FD_ZERO(&readable);
  FD_SET(place.listener, &readable);
  if (is("poll")) poll(&watched, 1, -1);
  if (is("ppoll")) ppoll(&watched, 1, NULL, NULL);
  if (is("select")) select(place.listener + 1, &readable, NULL, NULL, NULL);
  if (is("pselect")) pselect(place.listener + 1, &readable, NULL, NULL, NULL, NULL);
  if (is("epoll_wait")) epoll_wait(set, &event, 1, -1);
  if (is("epoll_pwait")) epoll_pwait(set, &event, 1, -1, NULL);
}

static void* serve_one(void* unused) {
  for (;;) {
    wait_once();
    const int connection = accept4(place.listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection >= 0) return answer_and_close(connection), unused;
    CHECK(errno == EAGAIN || errno == EINTR);
  }
}

static void jump(int number) {
  (void)number;
  siglongjmp(outside, 1);
}

static void step(const sigset_t* mask) {
  int number = 0;
  CHECK(sigwait(mask, &number) == 0);
}

static void leave(const sigset_t* mask) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, serve_one, NULL) == 0);
  step(mask);
  CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, NULL) == 0);
}

int main(int argc, char** argv) {
  sigset_t mask;
  CHECK(argc == 3);
  kind = argv[2];
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  sigprocmask(SIG_BLOCK, &mask, NULL);
  place = listen_somewhere(!is("accept"));
  if (strncmp(kind, "epoll", 5) == 0) {
    struct epoll_event event = {EPOLLIN, {.fd = place.listener}};
    set = epoll_create1(EPOLL_CLOEXEC);
    CHECK(epoll_ctl(set, EPOLL_CTL_ADD, place.listener, &event) == 0);
  }
  printf("port %d\n", ntohs(place.address.sin_port));
  if (strcmp(argv[1], "cancel") == 0) {
    leave(&mask);
  } else {
    signal(SIGUSR2, jump);
    if (sigsetjmp(outside, 1) == 0) serve_one(NULL);
  }
  printf("left\n");
  step(&mask);
  serve_one(NULL);
  step(&mask);
  close(place.listener);
  printf("closed\n");
  step(&mask);
  return 0;
}
