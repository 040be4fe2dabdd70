/* A server that has watched its listener and gives it to another image. hand_on WAY; prints "port
 * N" and, as what it is at the end, serves its pid on it. execve ... syscall  it becomes the other
 * image by the call of that name failing             such a call fails; it goes on vfork, fork a
 * child does it, with nothing else open; the parent goes on if the child says that it was given a
 * listening socket */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static const char kProgram[] = "/proc/self/exe";
static char number[16];

static int is_listening_socket(int descriptor) {
  struct stat status;
  int listens = 0;
  socklen_t length = sizeof(listens);
  return fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode) &&
         getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && listens;
}

static void serve(int listener, int set) {
  for (;;) {
    struct epoll_event event;
    if (epoll_wait(set, &event, 1, -1) < 1) continue;
    const int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection >= 0) {
      dprintf(connection, "%d\n", (int)getpid());
      close(connection);
    } else if (errno != EAGAIN) {
      exit(1);
    }
  }
}

static int watch(int listener) {
  struct epoll_event event = {EPOLLIN, {.fd = listener}};
  const int set = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ctl(set, EPOLL_CTL_ADD, listener, &event) != 0) exit(4);
  return set;
}

/* Becomes the image that does `what` with the listener, "--serve" or "--check". */
static int become(const char* way, char* what) {
  char* arguments[] = {"hand_on", what, number, NULL};
  char path[256] = "";
  const int program = open(kProgram, O_RDONLY | O_CLOEXEC);
  if (readlink(kProgram, path, sizeof(path) - 1) < 0) return -1;
  if (strcmp(way, "execve") == 0) return execve(path, arguments, environ);
  if (strcmp(way, "execv") == 0) return execv(path, arguments);
  if (strcmp(way, "execvp") == 0) return execvp("hand_on", arguments);
  if (strcmp(way, "execvpe") == 0) return execvpe("hand_on", arguments, environ);
  if (strcmp(way, "execl") == 0) return execl(path, "hand_on", what, number, NULL);
  if (strcmp(way, "execlp") == 0) return execlp("hand_on", "hand_on", what, number, NULL);
  if (strcmp(way, "execle") == 0) return execle(path, "hand_on", what, number, NULL, environ);
  if (strcmp(way, "fexecve") == 0) return fexecve(program, arguments, environ);
  if (strcmp(way, "execveat") == 0)
    return (int)syscall(SYS_execveat, program, "", arguments, environ, AT_EMPTY_PATH);
  if (strcmp(way, "syscall") == 0) return (int)syscall(SYS_execve, path, arguments, environ);
  errno = EINVAL;
  return -1;
}

static void check_by_child(pid_t child, int listener) {
  int status = -1;
  if (child == 0) {
    close_range(3, (unsigned)listener - 1, 0);
    close_range((unsigned)listener + 1, ~0u, 0);
    become("execve", "--check");
    _exit(5);
  }
  if (waitpid(child, &status, 0) != child || status != 0) {
    printf("the child ends with %x\n", (unsigned)status);
    exit(6);
  }
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc == 3) {
    const int given = atoi(argv[2]);
    if (!is_listening_socket(given)) return 7;
    if (strcmp(argv[1], "--check") == 0) return 0;
    serve(given, watch(given));
  }
  const char* way = argc > 1 ? argv[1] : "";
  struct sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  const int listener = dup2(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), 20);
  snprintf(number, sizeof(number), "%d", listener);
  if (bind(listener, (struct sockaddr*)&address, length) != 0 || listen(listener, 64) != 0)
    return 2;
  getsockname(listener, (struct sockaddr*)&address, &length);
  const int set = watch(listener);
  accept(listener, NULL, NULL);
  if (strcmp(way, "failing") == 0) {
    if (execl("/nowhere/to/be/found", "found", NULL) != -1 || errno != ENOENT) return 3;
  } else if (strcmp(way, "vfork") == 0) {
    check_by_child(vfork(), listener);
  } else if (strcmp(way, "fork") == 0) {
    check_by_child(fork(), listener);
  }
  printf("port %d\n", ntohs(address.sin_port));
  become(way, "--serve");
  if (errno != EINVAL) return 8;
  serve(listener, set);
}
