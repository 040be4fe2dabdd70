// arrivals PORT RATE [MOST]: offers RATE connections a second to 127.0.0.1:PORT by a schedule that
// does not wait for answers, with one request each, until SIGTERM; then waits for those under way.
// A line now and then says how far it is, the last ones say what became of them all. No more than
// MOST are under way at once; what is not offered in time for it is left out, and the rate that was
// reached is said.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kMost = 12000, kPatienceSeconds = 30, kServers = 512, kAnswer = 512 };
static const int64_t kSecond = 1000000000;
static const char kRequest[] = "GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";

// By descriptor, which is small.
struct Client {
  int64_t begun;
  int open;
  int asked;
  size_t length;
  char answer[kAnswer];
};
static struct Client clients[kMost + 64];

// What became of them.
static long offered, answered, refused, was_reset, closed, unanswered, failed;
static int under_way;
static int64_t longest;
static struct {
  long pid, count;
  int64_t longest;
} servers[kServers];

static struct sockaddr_in server;
static int events;
static volatile sig_atomic_t ended;

static int64_t Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

static void End(int number) {
  (void)number;
  ended = 1;
}

static void CountAnswer(long pid, int64_t took) {
  ++answered;
  if (took > longest) longest = took;
  for (int i = 0; i < kServers; ++i) {
    if (servers[i].pid != pid && servers[i].pid != 0) continue;
    servers[i].pid = pid;
    ++servers[i].count;
    if (took > servers[i].longest) servers[i].longest = took;
    return;
  }
}

static void Close(int connection) {
  close(connection);
  clients[connection].open = 0;
  --under_way;
}

static void Fail(int connection, int error) {
  if (error == ECONNREFUSED) {
    ++refused;
  } else if (error == ECONNRESET || error == EPIPE) {
    ++was_reset;
  } else {
    if (failed++ == 0) printf("failed: %s\n", strerror(error));
  }
  Close(connection);
}

static void Begin(uint32_t number) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  ++offered;
  if (connection < 0 || connection >= kMost + 64) {
    perror("socket");
    exit(1);
  }
  ++under_way;
  clients[connection] = (struct Client){.begun = Now(), .open = 1};
  // Many source addresses, so that ports do not run out.
  const struct sockaddr_in source = {.sin_family = AF_INET,
                                     .sin_addr = {htonl(0x7f010000 + number % 60000 + 1)}};
  if (bind(connection, (const struct sockaddr*)&source, sizeof(source)) != 0 ||
      (connect(connection, (struct sockaddr*)&server, sizeof(server)) != 0 &&
       errno != EINPROGRESS)) {
    Fail(connection, errno);
    return;
  }
  struct epoll_event wish = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = connection};
  epoll_ctl(events, EPOLL_CTL_ADD, connection, &wish);
}

// The body, which is the server's process number; 0 if more is to come.
static long WholeAnswer(const struct Client* client) {
  const char* body = strstr(client->answer, "\r\n\r\n");
  const char* length = strcasestr(client->answer, "\r\ncontent-length:");
  if (body == NULL || length == NULL || length > body) return 0;
  body += 4;
  const long bytes = strtol(length + strlen("\r\ncontent-length:"), NULL, 10);
  if (client->answer + client->length - body < bytes) return 0;
  return strtol(body, NULL, 10);
}

static void Receive(int connection) {
  struct Client* client = &clients[connection];
  for (;;) {
    const ssize_t bytes =
        recv(connection, client->answer + client->length, kAnswer - 1 - client->length, 0);
    if (bytes < 0 && errno == EAGAIN) return;
    if (bytes < 0) {
      Fail(connection, errno);
      return;
    }
    if (bytes == 0) {
      ++closed;
      Close(connection);
      return;
    }
    client->length += (size_t)bytes;
    const long pid = WholeAnswer(client);
    if (pid == 0) continue;
    CountAnswer(pid, Now() - client->begun);
    Close(connection);
    return;
  }
}

static void Step(const struct epoll_event* event) {
  const int connection = event->data.fd;
  struct Client* client = &clients[connection];
  if (!client->asked) {
    int error = 0;
    socklen_t length = sizeof(error);
    getsockopt(connection, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error == 0 && (event->events & EPOLLOUT) == 0) return;
    if (error == 0 && send(connection, kRequest, sizeof(kRequest) - 1, MSG_NOSIGNAL) < 0)
      error = errno;
    if (error != 0) {
      Fail(connection, error);
      return;
    }
    client->asked = 1;
  }
  if ((event->events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) Receive(connection);
}

static void GiveUp(int64_t now) {
  for (int i = 0; i < kMost + 64; ++i) {
    if (!clients[i].open || now - clients[i].begun < kPatienceSeconds * kSecond) continue;
    ++unanswered;
    Close(i);
  }
}

static void Say(double seconds) {
  printf(
      "offered %ld answered %ld refused %ld reset %ld closed %ld unanswered %ld failed %ld rate "
      "%.0f "
      "longest_ms %.1f\n",
      offered, answered, refused, was_reset, closed, unanswered, failed, (double)offered / seconds,
      (double)longest * 1e-6);
  fflush(stdout);
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const int most = count > 3 ? atoi(arguments[3]) : kMost;
  const struct rlimit limit = {kMost + 64, kMost + 64};
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    perror("setrlimit");
    return 1;
  }
  server = (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)atoi(arguments[1])),
                                .sin_addr = {htonl(INADDR_LOOPBACK)}};
  const int64_t gap = kSecond / atoi(arguments[2]);
  signal(SIGTERM, End);
  events = epoll_create1(EPOLL_CLOEXEC);
  const int64_t begun = Now();
  int64_t due = begun, say = begun, stopped = 0;
  uint32_t number = (uint32_t)getpid() * 7919;
  while (stopped == 0 || under_way > 0) {
    int64_t now = Now();
    if (ended && stopped == 0) stopped = now;
    if (now >= say) {
      Say((double)((stopped ? stopped : now) - begun + 1) * 1e-9);
      GiveUp(now);
      say = now + kSecond / 20;
    }
    for (; stopped == 0 && due <= now && under_way < most; due += gap) Begin(number++);
    if (stopped == 0 && under_way >= most) due = now;  // the schedule goes on when there is room
    const int64_t until = stopped == 0 && due < say ? due : say;
    const int64_t wait = until > now ? until - now : 0;
    const struct timespec nap = {wait / kSecond, wait % kSecond};
    struct epoll_event found[256];
    const int ready = epoll_pwait2(events, found, 256, &nap, NULL);
    for (int i = 0; i < ready; ++i) Step(&found[i]);
  }
  for (int i = 0; i < kServers && servers[i].pid != 0; ++i) {
    printf("by %ld count %ld longest_ms %.1f\n", servers[i].pid, servers[i].count,
           (double)servers[i].longest * 1e-6);
  }
  Say((double)(stopped - begun + 1) * 1e-9);
  puts("done");
}
