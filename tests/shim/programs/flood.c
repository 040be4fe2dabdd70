/* A server at its descriptor limit: one thread accepts and closes, another opens and closes files
 * as fast as it can. flood LIMIT accept|epoll; answers each connection with a byte and counts
 * EMFILE. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static void* open_files(void* arg) {
  int opened[20000];
  (void)arg;
  for (;;) {
    int count = 0;
    while (count < 20000 && (opened[count] = open("/dev/null", O_RDONLY)) >= 0) ++count;
    usleep(100); /* full for a while, so that connections meet it */
    while (count > 0) close(opened[--count]);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int blocks = argc > 2 && strcmp(argv[2], "accept") == 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  bind(listener, (struct sockaddr*)&address, length);
  listen(listener, 1024);
  getsockname(listener, (struct sockaddr*)&address, &length);
  struct epoll_event event = {EPOLLIN, {.fd = listener}};
  const int set = epoll_create1(0);
  if (!blocks) {
    fcntl(listener, F_SETFL, O_NONBLOCK);
    epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
    accept(listener, NULL, NULL);
  }
  printf("port %d\n", ntohs(address.sin_port));
  int first = -1; /* comes before the flood; what wakes before it is a doorbell */
  while (first < 0) {
    if (!blocks) epoll_wait(set, &event, 1, -1);
    first = accept(listener, NULL, NULL);
  }
  close(first);
  const rlim_t numbers = atoi(argv[1]);
  struct rlimit limit = {numbers, numbers};
  setrlimit(RLIMIT_NOFILE, &limit);
  pthread_t thread;
  pthread_create(&thread, NULL, open_files, NULL);
  long refused = 0;
  for (long taken = 0;;) {
    if (!blocks) epoll_wait(set, &event, 1, -1);
    const int connection = accept(listener, NULL, NULL);
    if (connection < 0) {
      if (errno == EMFILE)
        ++refused;
      else if (errno != EAGAIN)
        break;
      continue;
    }
    if (write(connection, "x", 1) != 1) printf("write: %s\n", strerror(errno));
    close(connection);
    if (++taken % 1000 == 0) printf("taken %ld refused %ld\n", taken, refused);
  }
  printf("accept: %s\n", strerror(errno));
  return 1;
}
