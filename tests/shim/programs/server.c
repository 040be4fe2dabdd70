/* A server that answers with its pid and closes.
 *   server WAIT [--nonblocking] [--forks N] [--times N] [--port N]
 * WAIT: accept (blocks), epoll, epoll-edge, poll, ppoll, select, pselect. Prints "port N". */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int epoll_set = -1;

static void wait_for(const char* how, int listener) {
  if (strncmp(how, "epoll", 5) == 0) {
    struct epoll_event event = {EPOLLIN | (strcmp(how, "epoll-edge") == 0 ? EPOLLET : 0),
                                {.fd = listener}};
    if (strcmp(how, "epoll-exclusive") == 0) event.events |= EPOLLEXCLUSIVE;
    if (epoll_set < 0) {
      epoll_set = epoll_create1(EPOLL_CLOEXEC);
      if (epoll_ctl(epoll_set, EPOLL_CTL_ADD, listener, &event) != 0) perror("epoll_ctl");
    }
    epoll_wait(epoll_set, &event, 1, -1);
  } else if (strcmp(how, "poll") == 0 || strcmp(how, "ppoll") == 0) {
    struct pollfd watched = {listener, POLLIN, 0};
    if (strcmp(how, "poll") == 0)
      poll(&watched, 1, -1);
    else
      ppoll(&watched, 1, NULL, NULL);
  } else if (strcmp(how, "accept") != 0) {
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(listener, &readable);
    if (strcmp(how, "select") == 0)
      select(listener + 1, &readable, NULL, NULL, NULL);
    else
      pselect(listener + 1, &readable, NULL, NULL, NULL, NULL);
  }
}

static void serve(const char* how, int listener, int times) {
  while (times != 0) {
    wait_for(how, listener);
    while (times != 0) {
      struct sockaddr_in peer, real_peer;
      socklen_t length = sizeof(peer), real_length = sizeof(real_peer);
      errno = 77;
      int connection = accept4(listener, (struct sockaddr*)&peer, &length, SOCK_CLOEXEC);
      if (connection < 0) {
        if (errno == EAGAIN) break;
        printf("accept: %s\n", strerror(errno));
        exit(1);
      }
      if (errno != 77) printf("errno was changed\n");
      getpeername(connection, (struct sockaddr*)&real_peer, &real_length);
      if (length != real_length || memcmp(&peer, &real_peer, length) != 0) {
        printf("wrong peer address\n");
      }
      if ((fcntl(connection, F_GETFL) & O_NONBLOCK) != 0) printf("connection does not block\n");
      dprintf(connection, "%d\n", (int)getpid());
      close(connection);
      --times;
      if (strcmp(how, "epoll-edge") != 0) break;
    }
  }
}

int main(int argc, char** argv) {
  const char* how = argv[1];
  int nonblocking = 0, forks = 0, times = -1, port = 0;
  for (int i = 2; i < argc; ++i) {
    if (strcmp(argv[i], "--nonblocking") == 0) nonblocking = 1;
    if (strcmp(argv[i], "--forks") == 0) forks = atoi(argv[++i]);
    if (strcmp(argv[i], "--times") == 0) times = atoi(argv[++i]);
    if (strcmp(argv[i], "--port") == 0) port = atoi(argv[++i]);
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  if (bind(listener, (struct sockaddr*)&address, length) != 0 || listen(listener, 64) != 0) {
    printf("cannot listen: %s\n", strerror(errno));
    return 1;
  }
  if (nonblocking) fcntl(listener, F_SETFL, O_NONBLOCK);
  getsockname(listener, (struct sockaddr*)&address, &length);
  for (int i = 0; i < forks; ++i) {
    if (fork() == 0) {
      serve(how, listener, times);
      return 0;
    }
  }
  printf("port %d\n", ntohs(address.sin_port));
  if (forks == 0) serve(how, listener, times);
  while (wait(NULL) > 0) {
  }
  printf("done\n");
  return 0;
}
