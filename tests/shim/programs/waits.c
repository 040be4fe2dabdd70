/* Watches a listener in one way until a time-out or a signal, and says what came of it.
 *   waits WAIT TIMEOUT_MS [SIGNAL_AFTER_MS]
 * WAIT: epoll, epoll-edge, poll, ppoll, select, pselect, accept (SO_RCVTIMEO). Prints "port N",
 * then "result R errno E": what the wait returned; with select "left N" too, in milliseconds. It
 * says "short" if less time has passed than was asked for. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void on_signal(int number) { (void)number; }

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int wait_for(const char* how, int listener, int timeout) {
  struct timespec time = {timeout / 1000, timeout % 1000 * 1000000L};
  struct timeval left = {timeout / 1000, timeout % 1000 * 1000L};
  struct pollfd watched = {listener, POLLIN, 0};
  fd_set readable;
  FD_ZERO(&readable);
  FD_SET(listener, &readable);
  if (strcmp(how, "poll") == 0) return poll(&watched, 1, timeout);
  if (strcmp(how, "ppoll") == 0) return ppoll(&watched, 1, &time, NULL);
  if (strcmp(how, "pselect") == 0) return pselect(listener + 1, &readable, NULL, NULL, &time, NULL);
  if (strcmp(how, "select") == 0) {
    int result = select(listener + 1, &readable, NULL, NULL, &left);
    printf("left %ld\n", left.tv_sec * 1000 + left.tv_usec / 1000);
    if (result == 0 && FD_ISSET(listener, &readable)) printf("set is not empty\n");
    return result;
  }
  if (strcmp(how, "accept") == 0) {
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &left, sizeof(left));
    return accept(listener, NULL, NULL);
  }
  struct epoll_event event = {EPOLLIN | (strcmp(how, "epoll-edge") == 0 ? EPOLLET : 0), {0}};
  int set = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ctl(set, EPOLL_CTL_ADD, listener, &event) != 0) perror("epoll_ctl");
  return epoll_wait(set, &event, 1, timeout);
}

int main(int argc, char** argv) {
  int timeout = atoi(argv[2]);
  int signal_after = argc > 3 ? atoi(argv[3]) : 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  if (bind(listener, (struct sockaddr*)&address, length) != 0 || listen(listener, 64) != 0)
    return 1;
  getsockname(listener, (struct sockaddr*)&address, &length);
  printf("port %d\n", ntohs(address.sin_port));
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGALRM, &action, NULL);
  long begun = now_ms();
  if (signal_after > 0) {
    struct itimerval timer = {{0, 0}, {signal_after / 1000, signal_after % 1000 * 1000L}};
    setitimer(ITIMER_REAL, &timer, NULL);
  }
  errno = 0;
  int result = wait_for(argv[1], listener, timeout);
  int error = errno;
  if (now_ms() - begun < (signal_after > 0 ? signal_after : timeout)) printf("short\n");
  printf("result %d errno %d\n", result, error);
  return 0;
}
