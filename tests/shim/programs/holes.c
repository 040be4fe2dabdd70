/* A server that is full up to its descriptor limit and frees one low number at a time: each accept
 * gives that one, and the process is full again. holes LIMIT; says how many it took. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char** argv) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  sigprocmask(SIG_BLOCK, &mask, NULL);
  const rlim_t numbers = argc > 1 ? (rlim_t)atoi(argv[1]) : 1024;
  const struct rlimit limit = {numbers, numbers};
  setrlimit(RLIMIT_NOFILE, &limit);
  setvbuf(stdout, NULL, _IOLBF, 0);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  bind(listener, (struct sockaddr*)&address, length);
  listen(listener, 64);
  getsockname(listener, (struct sockaddr*)&address, &length);
  fcntl(listener, F_SETFL, O_NONBLOCK);
  struct epoll_event event = {EPOLLIN, {.fd = listener}};
  const int set = epoll_create1(0);
  epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
  accept(listener, NULL, NULL);
  const int low = open("/dev/null", O_RDONLY);
  while (open("/dev/null", O_RDONLY) >= 0) continue;
  usleep(20000); /* longer than the shim believes what it has seen: docs/servers.md */
  printf("port %d\n", ntohs(address.sin_port));
  int signal_number = 0;
  sigwait(&mask, &signal_number); /* all clients have connected */
  int taken = 0;
  for (int freed = 0; freed < 4; ++freed) {
    close(low + freed);
    for (int connection = -1; connection < 0;) {
      epoll_wait(set, &event, 1, -1);
      connection = accept(listener, NULL, NULL);
      if (connection >= 0) ++taken;
    }
    /* full again: the next one must wait */
    if (accept(listener, NULL, NULL) >= 0 || (errno != EMFILE && errno != EAGAIN)) return 1;
  }
  printf("taken %d\n", taken);
  pause();
  return 0;
}
