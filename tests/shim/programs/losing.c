/* A server that closes every number that it does not know, without the C library, and uses each
 * again for something of its own. losing WAIT (epoll, poll, accept); at SIGUSR1: "lost". At SIGUSR2
 * it says whether what it put there is as it was: "mine". */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "checking.h"

enum { kFirst = 3, kNumbers = 1 << 16 };

static struct place place;
static int set = -1;
static int kept[2];
static char is_mine[kNumbers];
static volatile sig_atomic_t asked;

/* A system call that no hook sees. */
static long bare(long number, long a, long b, long c) {
#if defined(__x86_64__)
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
#else
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
#endif
}

static int is_known(int number) {
  return number == place.listener || number == set || number == kept[0] || number == kept[1];
}

static void lose(void) {
  for (int number = kFirst; number < kNumbers; ++number) {
    if (is_known(number) || bare(SYS_close, number, 0, 0) != 0) continue;
    is_mine[number] = bare(SYS_dup3, kept[0], number, O_CLOEXEC) == number;
  }
  usleep(20000); /* longer than the shim believes what it has seen: docs/servers.md */
  printf("lost\n");
}

static void look_at_mine(void) {
  char word[8] = "";
  int count = 0;
  for (int number = kFirst; number < kNumbers; ++number) {
    if (!is_mine[number]) continue;
    ++count;
    CHECK(recv(number, word, sizeof(word), MSG_PEEK | MSG_DONTWAIT) == 4);
    CHECK(memcmp(word, "mine", 4) == 0);
    CHECK(close(number) == 0);
  }
  CHECK(count > 0);
  printf("mine\n");
}

static void note(int number) { asked = number; }

int main(int argc, char** argv) {
  const struct sigaction action = {.sa_handler = note};
  CHECK(argc == 2 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, kept) == 0);
  CHECK(send(kept[1], "mine", 4, 0) == 4);
  const int blocks = strcmp(argv[1], "accept") == 0;
  const int polls = strcmp(argv[1], "poll") == 0;
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  place = listen_somewhere(!blocks);
  struct epoll_event event = {EPOLLIN, {.fd = place.listener}};
  if (!blocks && !polls) {
    set = epoll_create1(EPOLL_CLOEXEC);
    CHECK(epoll_ctl(set, EPOLL_CTL_ADD, place.listener, &event) == 0);
  }
  printf("port %d\n", ntohs(place.address.sin_port));
  for (;;) {
    struct pollfd watched = {place.listener, POLLIN, 0};
    if (polls) poll(&watched, 1, -1);
    if (set >= 0) epoll_wait(set, &event, 1, -1);
    const int connection = accept4(place.listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection >= 0) answer_and_close(connection);
    if (asked == SIGUSR1) lose();
    if (asked == SIGUSR2) look_at_mine();
    asked = 0;
  }
}
