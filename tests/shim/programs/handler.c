/* handler WAIT: polls its listener, or blocks in accept; SIGUSR2 forks in the handler, and the
 * child goes on from the interrupted call to its end. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

int main(int argc, char** argv) {
  const int polls = argc > 1 && strcmp(argv[1], "poll") == 0;
  const struct sigaction action = {.sa_handler = fork_here};
  setvbuf(stdout, NULL, _IOLBF, 0);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  bind(listener, (struct sockaddr*)&address, length);
  listen(listener, 64);
  if (polls) fcntl(listener, F_SETFL, O_NONBLOCK);
  sigaction(SIGUSR2, &action, NULL);
  for (;;) {
    struct pollfd watched = {listener, POLLIN, 0};
    if (polls)
      poll(&watched, 1, -1);
    else
      accept(listener, NULL, NULL);
    if (is_child) return 0;
    printf("interrupted\n");
  }
}
