/* When a listening descriptor is ready, in each way to wait for it.
 *   readiness HOW: epoll, epoll-exclusive, epoll-oneshot, epoll-edge, two-sets, nested, poll,
 * ppoll, select, pselect, epoll-pwait, epoll-pwait2. Prints "ok". */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>

#include "checking.h"

static const char* how;
static struct place place;
static int set = -1, second_set = -1;

static int is(const char* name) { return strcmp(how, name) == 0; }

static int make_set(int watched, uint32_t events) {
  const int made = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {events, {.fd = watched}};
  CHECK(epoll_ctl(made, EPOLL_CTL_ADD, watched, &event) == 0);
  return made;
}

static void prepare(void) {
  uint32_t events = EPOLLIN;
  if (is("epoll-exclusive")) events |= EPOLLEXCLUSIVE;
  if (is("epoll-oneshot")) events |= EPOLLONESHOT;
  if (is("epoll-edge")) events |= EPOLLET;
  if (strncmp(how, "epoll", 5) == 0) set = make_set(place.listener, events);
  if (is("two-sets")) {
    set = make_set(place.listener, EPOLLIN);
    second_set = make_set(place.listener, EPOLLIN);
  }
  if (is("nested")) set = make_set(make_set(place.listener, EPOLLIN), EPOLLIN);
}

static int wait_by_select(int ms) {
  fd_set readable;
  struct timeval time = {ms / 1000, ms % 1000 * 1000};
  const struct timespec same = {ms / 1000, ms % 1000 * 1000000L};
  FD_ZERO(&readable);
  FD_SET(place.listener, &readable);
  if (is("pselect")) return pselect(place.listener + 1, &readable, NULL, NULL, &same, NULL);
  const int ready = select(place.listener + 1, &readable, NULL, NULL, &time);
  /* Linux tells what was left of the time. */
  if (ready == 0) CHECK(time.tv_sec == 0 && time.tv_usec == 0);
  if (ready == 1 && ms > 1000) CHECK(time.tv_sec * 1000 + time.tv_usec / 1000 <= ms);
  return ready;
}

static int wait_once(int ms) {
  struct pollfd watched = {place.listener, POLLIN, 0};
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
  struct epoll_event event;
  if (is("poll")) return poll(&watched, 1, ms);
  if (is("ppoll")) return ppoll(&watched, 1, &time, NULL);
  if (is("select") || is("pselect")) return wait_by_select(ms);
  if (is("epoll-pwait")) return epoll_pwait(set, &event, 1, ms, NULL);
  if (is("epoll-pwait2")) return epoll_pwait2(set, &event, 1, &time, NULL);
  const int ready = epoll_wait(set, &event, 1, ms);
  if (second_set >= 0) CHECK(epoll_wait(second_set, &event, 1, ms) == ready);
  return ready;
}

static void arm_again(void) {
  struct epoll_event event = {EPOLLIN | EPOLLONESHOT, {.fd = place.listener}};
  if (is("epoll-oneshot")) CHECK(epoll_ctl(set, EPOLL_CTL_MOD, place.listener, &event) == 0);
}

/* The first connection may cost a doorbell, which an accept without a connection answers. */
static void serve_the_first(void) {
  const int client = connect_to(&place);
  int connection = -1;
  while (connection < 0) {
    CHECK(wait_once(PATIENCE_MS) == 1);
    connection = accept(place.listener, NULL, NULL);
    if (connection < 0) CHECK(errno == EAGAIN);
    arm_again();
  }
  answer_and_close(connection);
  close(client);
}

static void ready_as_long_as_a_connection_waits(void) {
  const int client = connect_to(&place);
  CHECK(wait_once(PATIENCE_MS) == 1);
  arm_again();
  CHECK(wait_once(PATIENCE_MS) == 1);
  const int connection = accept(place.listener, NULL, NULL);
  CHECK(connection >= 0);
  arm_again();
  CHECK(wait_once(0) == 0);
  CHECK(accept(place.listener, NULL, NULL) == -1 && errno == EAGAIN);
  close(connection);
  close(client);
}

static void one_edge_for_each_connection(void) {
  const int first = connect_to(&place);
  CHECK(wait_once(PATIENCE_MS) == 1);
  CHECK(wait_once(50) == 0);
  const int second = connect_to(&place);
  CHECK(wait_once(PATIENCE_MS) == 1);
  for (int i = 0; i < 2; ++i) close(accept(place.listener, NULL, NULL));
  CHECK(accept(place.listener, NULL, NULL) == -1 && errno == EAGAIN);
  CHECK(wait_once(0) == 0);
  close(first);
  close(second);
}

static void one_shot_and_no_more(void) {
  const int client = connect_to(&place);
  CHECK(wait_once(PATIENCE_MS) == 1);
  CHECK(wait_once(50) == 0);
  arm_again();
  CHECK(wait_once(PATIENCE_MS) == 1);
  close(accept(place.listener, NULL, NULL));
  arm_again();
  close(client);
}

static void takes_its_time(void) {
  for (int ms = 0; ms <= 300; ms += 150) {
    const long begun = now_ms();
    errno = 77;
    CHECK(wait_once(ms) == 0);
    CHECK(errno == 77);
    const long sets = second_set >= 0 ? 2 : 1;
    CHECK(now_ms() - begun >= ms * sets - 1);
  }
}

static void on_alarm(int number) { (void)number; }

static void a_handler_ends_it(int flags) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};
  const struct itimerval soon = {.it_value = {0, 150000}};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &soon, NULL);
  CHECK(wait_once(PATIENCE_MS) == -1 && errno == EINTR);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  how = argv[1];
  place = listen_somewhere(1);
  prepare();
  CHECK(wait_once(0) == 0);
  serve_the_first();
  for (int i = 0; i < 20; ++i) {
    if (is("epoll-edge"))
      one_edge_for_each_connection();
    else if (is("epoll-oneshot") && i % 2 == 0)
      one_shot_and_no_more();
    else
      ready_as_long_as_a_connection_waits();
  }
  takes_its_time();
  if (!is("two-sets")) {
    a_handler_ends_it(0);
    a_handler_ends_it(SA_RESTART);
  }
  printf("ok\n");
  return 0;
}
