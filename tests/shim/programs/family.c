/* Forks and what they inherit. family MODE; prints "port N".
 *   joined-parent    the parent joins, then a child joins for itself; both accept
 *   closing-child    the parent joins, a child closes its copy and says so; the parent serves on
 *   shared-epoll     an epoll set filled before the fork is waited on by the children
 *   vfork            a vfork child closes everything and execs; the parent serves on
 *   handler          a handler with SA_RESTART closes the listener and opens another socket under
 *                    its number, as php-fpm does; accept must end
 *   on-demand        the parent only watches, forks for each event; the child dups and accepts */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int listener;

static void answer(int connection) {
  dprintf(connection, "%d\n", (int)getpid());
  close(connection);
}

static int watch(void) {
  struct epoll_event event = {EPOLLIN, {.fd = listener}};
  const int set = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ctl(set, EPOLL_CTL_ADD, listener, &event) != 0) perror("epoll_ctl");
  return set;
}

static void serve(int set) {
  for (;;) {
    struct epoll_event event;
    if (epoll_wait(set, &event, 1, -1) < 1) continue;
    const int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection >= 0)
      answer(connection);
    else if (errno != EAGAIN)
      exit(1);
  }
}

static void replace(int number) {
  (void)number;
  const int old = listener;
  close(listener);
  if (socket(AF_UNIX, SOCK_STREAM, 0) != old) _exit(3);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  setvbuf(stdout, NULL, _IOLBF, 0);
  listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  bind(listener, (struct sockaddr*)&address, length);
  listen(listener, 64);
  getsockname(listener, (struct sockaddr*)&address, &length);
  const int blocks = strcmp(mode, "handler") == 0 || strcmp(mode, "on-demand") == 0;
  if (!blocks) fcntl(listener, F_SETFL, O_NONBLOCK);
  printf("port %d\n", ntohs(address.sin_port));

  if (strcmp(mode, "joined-parent") == 0) {
    const int set = watch();
    if (fork() == 0) serve(watch());
    serve(set);
  } else if (strcmp(mode, "closing-child") == 0) {
    const int set = watch();
    if (fork() == 0) {
      close(listener);
      printf("child closed\n");
      pause();
    }
    serve(set);
  } else if (strcmp(mode, "shared-epoll") == 0) {
    const int set = watch();
    for (int i = 0; i < 2; ++i) {
      if (fork() == 0) serve(set);
    }
    while (wait(NULL) > 0) {
    }
  } else if (strcmp(mode, "vfork") == 0) {
    const int set = watch();
    if (vfork() == 0) {
      for (int number = 3; number < 20000; ++number) close(number);
      execl("/bin/true", "true", NULL);
      _exit(1);
    }
    wait(NULL);
    printf("child ran\n");
    serve(set);
  } else if (strcmp(mode, "handler") == 0) {
    struct sigaction action = {.sa_handler = replace, .sa_flags = SA_RESTART};
    sigaction(SIGQUIT, &action, NULL);
    for (int connection; (connection = accept(listener, NULL, NULL)) >= 0;) answer(connection);
    printf("accept: %s\n", strerror(errno));
  } else if (strcmp(mode, "on-demand") == 0) {
    struct epoll_event event = {EPOLLIN | EPOLLET, {.fd = listener}};
    const int set = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
    for (int children = 0; children < 3;) {
      if (epoll_wait(set, &event, 1, -1) < 1) continue;
      ++children;
      if (fork() == 0) {
        const int own = dup(listener);
        close(listener);
        for (int connection; (connection = accept(own, NULL, NULL)) >= 0;) answer(connection);
        return 1;
      }
    }
    while (wait(NULL) > 0) {
    }
  }
  return 0;
}
