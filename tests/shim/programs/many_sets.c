/* Several threads, each with an epoll set of its own, all on one listener: each connection is taken
 * once and none waits. Prints "ok". */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>

#include "checking.h"

enum { kThreads = 4, kRequests = 400 };

static struct place place;
static atomic_int served, done;

static void* serve(void* unused) {
  const int set = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {EPOLLIN | EPOLLRDHUP, {.fd = place.listener}};
  CHECK(epoll_ctl(set, EPOLL_CTL_ADD, place.listener, &event) == 0);
  while (!done) {
    if (epoll_wait(set, &event, 1, 50) != 1) continue;
    int connection;
    while ((connection = accept4(place.listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
      ++served;
      answer_and_close(connection);
    }
    CHECK(errno == EAGAIN);
  }
  CHECK(epoll_ctl(set, EPOLL_CTL_DEL, place.listener, &event) == 0);
  close(set);
  return unused;
}

int main(void) {
  pthread_t threads[kThreads];
  place = listen_somewhere(1);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, serve, NULL);
  for (int i = 0; i < kRequests; ++i) ask(&place);
  done = 1;
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  CHECK(served == kRequests);
  printf("ok\n");
  return 0;
}
