/* Polls its listener; SIGUSR2 forks in the handler, and the child goes on from the interrupted poll
 * to its end. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t is_child;

static void fork_here(int number) {
  (void)number;
  const pid_t child = fork();
  is_child = child == 0;
  if (child > 0) waitpid(child, NULL, 0);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  bind(listener, (struct sockaddr*)&address, length);
  listen(listener, 64);
  fcntl(listener, F_SETFL, O_NONBLOCK);
  signal(SIGUSR2, fork_here);
  for (;;) {
    struct pollfd watched = {listener, POLLIN, 0};
    poll(&watched, 1, -1);
    if (is_child) return 0;
    printf("polled\n");
  }
}
