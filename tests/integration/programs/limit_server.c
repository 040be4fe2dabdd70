// limit_server PORT COUNT LIMIT: accepts at its descriptor limit, beside a thread that opens files
// until there is no number free. Greets COUNT connections with a byte, then says how often accept
// answered EMFILE.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static void* OpenFiles(void* unused) {
  int files[4096];
  int count = 0;
  unsigned seed = 1;
  while (1) {
    int file;
    while (count < 4096 && (file = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) {
      files[count++] = file;
    }
    for (int i = rand_r(&seed) % 3 + 1; i > 0 && count > 0; --i) close(files[--count]);
    if (rand_r(&seed) % 64 == 0) poll(NULL, 0, 1);
  }
  return unused;
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const int wanted = atoi(arguments[2]);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)atoi(arguments[1])),
                                .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof(address);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int events = epoll_create1(EPOLL_CLOEXEC);
  if (bind(listener, (struct sockaddr*)&address, length) != 0 || listen(listener, 4096) != 0) {
    perror("bind");
    return 1;
  }
  struct epoll_event wish = {.events = EPOLLIN};
  epoll_ctl(events, EPOLL_CTL_ADD, listener, &wish);
  getsockname(listener, (struct sockaddr*)&address, &length);
  const struct rlimit limit = {(rlim_t)atoi(arguments[3]), (rlim_t)atoi(arguments[3])};
  setrlimit(RLIMIT_NOFILE, &limit);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  pthread_t thread;
  pthread_create(&thread, NULL, OpenFiles, NULL);
  int accepted = 0, full = 0;
  while (accepted < wanted) {
    struct epoll_event event;
    if (epoll_wait(events, &event, 1, -1) != 1) continue;
    const int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) {
      if (errno == EMFILE) {
        ++full;
      } else if (errno != EAGAIN && errno != EINTR) {
        printf("accept4: %s\n", strerror(errno));
        return 1;
      }
      continue;
    }
    ++accepted;
    send(connection, "k", 1, MSG_NOSIGNAL);
    close(connection);
  }
  printf("accepted %d full %d\n", accepted, full);
  fflush(stdout);
  pause();
}
