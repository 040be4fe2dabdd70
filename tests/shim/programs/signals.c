/* Accepts while a signal comes a thousand times a second.
 *   signals [--restart] [--time-out] [--poll]. Prints "EINTR N" and "ok". */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "checking.h"

enum { kRequests = 300 };

static struct place place;
static volatile sig_atomic_t signals;

static void on_alarm(int number) {
  (void)number;
  ++signals;
}

static void* be_a_client(void* unused) {
  for (int i = 0; i < kRequests; ++i) ask(&place);
  return unused;
}

int main(int argc, char** argv) {
  struct sigaction action = {.sa_handler = on_alarm};
  int by_poll = 0, interrupted = 0;
  pthread_t client;
  sigset_t alarms;
  place = listen_somewhere(0);
  for (int i = 1; i < argc; ++i) {
    const struct timeval time = {0, 20000};
    if (strcmp(argv[i], "--restart") == 0) action.sa_flags = SA_RESTART;
    if (strcmp(argv[i], "--poll") == 0) by_poll = 1;
    if (strcmp(argv[i], "--time-out") == 0) {
      CHECK(setsockopt(place.listener, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) == 0);
    }
  }
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarms, NULL);
  pthread_create(&client, NULL, be_a_client, NULL);
  pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval each_millisecond = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &each_millisecond, NULL);
  for (int served = 0; served < kRequests || signals < 100;) {
    struct pollfd watched = {place.listener, POLLIN, 0};
    if (served == kRequests) continue; /* only the signals are missing */
    if (by_poll && poll(&watched, 1, 1000) != 1) {
      CHECK(errno == EINTR);
      continue;
    }
    const int connection = accept4(place.listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection >= 0) {
      answer_and_close(connection);
      ++served;
    } else {
      CHECK(errno == EINTR || errno == EAGAIN);
      if (errno == EINTR) ++interrupted;
    }
  }
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  pthread_join(client, NULL);
  printf("EINTR %d\nok\n", interrupted);
  return 0;
}
