// threads_server PORT COUNT MODE: four threads accept on one listener, greet each connection with a
// byte and close in random order, until COUNT were accepted and all are closed. MODE: "block", or
// "epoll" for a set of each thread's own.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kThreads = 4, kHeld = 64 };

static int listener;
static int wanted;
static int use_epoll;
static atomic_int accepted;  // and put into its place
static int all_held[kThreads * kHeld];

// Some are closed at once, some later, some through a duplicate.
static void Keep(int connection, int* held, unsigned* seed) {
  send(connection, "k", 1, MSG_NOSIGNAL);
  const int choice = rand_r(seed) % 16;
  if (choice < 4) {
    close(connection);
    return;
  }
  if (choice == 4) {
    const int copy = dup(connection);
    close(connection);
    connection = copy;
  }
  int* place = &held[rand_r(seed) % kHeld];
  if (*place >= 0) close(*place);
  *place = connection;
}

static void* Accept(void* number) {
  unsigned seed = (unsigned)(size_t)number;
  int* held = &all_held[(size_t)number * kHeld];
  int events = -1;
  if (use_epoll) {
    events = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event wish = {.events = EPOLLIN};
    epoll_ctl(events, EPOLL_CTL_ADD, listener, &wish);
  }
  while (atomic_load(&accepted) < wanted) {
    struct epoll_event event;
    if (use_epoll && epoll_wait(events, &event, 1, 100) != 1) continue;
    const int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (connection < 0) {
      perror("accept4");
      exit(1);
    }
    Keep(connection, held, &seed);
    atomic_fetch_add(&accepted, 1);
  }
  return NULL;
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  wanted = atoi(arguments[2]);
  use_epoll = strcmp(arguments[3], "epoll") == 0;
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)atoi(arguments[1])),
                                .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof(address);
  listener = socket(AF_INET, SOCK_STREAM | (use_epoll ? SOCK_NONBLOCK : 0), 0);
  if (bind(listener, (struct sockaddr*)&address, length) != 0 || listen(listener, 4096) != 0) {
    perror("bind");
    return 1;
  }
  getsockname(listener, (struct sockaddr*)&address, &length);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  memset(all_held, -1, sizeof(all_held));
  pthread_t threads[kThreads];
  for (size_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, Accept, (void*)i);
  while (atomic_load(&accepted) < wanted) usleep(1000); /* the event is the count itself */
  for (int i = 0; i < kThreads * kHeld; ++i) {
    if (all_held[i] >= 0) close(all_held[i]);
  }
  puts("all closed");
  fflush(stdout);
  pause();
}
