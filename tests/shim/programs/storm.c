/* Threads serve while the process makes other processes.
 *   storm HOW: fork, fork-accept, _Fork, clone, vfork-exec, spawn. Prints "ok". */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "checking.h"

enum { kServers = 3, kClients = 2, kRequests = 150, kProcesses = 60 };

extern char** environ;
static struct place place;
static atomic_int finished_clients;
static const char* how;

static int is(const char* name) { return strcmp(how, name) == 0; }

static void* serve(void* unused) {
  while (finished_clients < kClients) {
    struct pollfd watched = {place.listener, POLLIN, 0};
    if (poll(&watched, 1, 50) != 1) continue;
    const int connection = accept4(place.listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection >= 0)
      answer_and_close(connection);
    else
      CHECK(errno == EAGAIN);
  }
  return unused;
}

static void* be_a_client(void* unused) {
  for (int i = 0; i < kRequests; ++i) ask(&place);
  ++finished_clients;
  return unused;
}

/* What a child of a threaded process may do: system calls. */
static void be_a_child(void) {
  if (is("fork-accept")) {
    const int connection = accept4(place.listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection >= 0) answer_and_close(connection);
  }
  close(place.listener);
  _exit(0);
}

static pid_t make_process(void) {
  char* const arguments[] = {"true", NULL};
  pid_t child = -1;
  if (is("spawn")) {
    CHECK(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) == 0);
    return child;
  }
  if (is("vfork-exec")) {
    child = vfork();
    if (child == 0) {
      close(place.listener);
      execve("/bin/true", arguments, environ);
      _exit(127);
    }
    return child;
  }
  if (is("_Fork"))
    child = _Fork();
  else if (is("clone"))
    child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  else
    child = fork();
  if (child == 0) be_a_child();
  return child;
}

int main(int argc, char** argv) {
  pthread_t servers[kServers], clients[kClients];
  CHECK(argc == 2);
  how = argv[1];
  place = listen_somewhere(1);
  for (int i = 0; i < kServers; ++i) pthread_create(&servers[i], NULL, serve, NULL);
  for (int i = 0; i < kClients; ++i) pthread_create(&clients[i], NULL, be_a_client, NULL);
  for (int i = 0; i < kProcesses; ++i) {
    int status = 0;
    const pid_t child = make_process();
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  for (int i = 0; i < kClients; ++i) pthread_join(clients[i], NULL);
  for (int i = 0; i < kServers; ++i) pthread_join(servers[i], NULL);
  printf("ok\n");
  return 0;
}
