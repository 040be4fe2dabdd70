/* A server that has watched its listener and gives it to another image. hand_on WAY; prints "port
 * N" and, as what it is at the end, serves its pid on it. execve ... syscall  it becomes the other
 * image by the call of that name failing             such a call fails; it goes on vfork, fork a
 * child does it, with nothing else open; the parent goes on if the child says that it was given a
 * listening socket */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
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

static void expect_success(pid_t child) {
  int status = -1;
  if (waitpid(child, &status, 0) != child || status != 0) {
    printf("the child ends with %x\n", (unsigned)status);
    exit(6);
  }
}

static void check_by_child(pid_t child, int listener) {
  if (child == 0) {
    close_range(3, (unsigned)listener - 1, 0);
    close_range((unsigned)listener + 1, ~0u, 0);
    become("execve", "--check");
    _exit(5);
  }
  expect_success(child);
}

static void check_by_spawn(const char* way, int listener) {
  char* arguments[] = {"hand_on", "--check", number, NULL};
  posix_spawn_file_actions_t actions;
  pid_t child = -1;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 21, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, 21, 0);
  posix_spawn_file_actions_addclose(&actions, 21);
  if (strcmp(way, "spawn-source") == 0) {
    fcntl(listener, F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_adddup2(&actions, listener, 30);
    arguments[2] = "30";
  }
  const int without = strcmp(way, "spawn") == 0;
  if (posix_spawn(&child, kProgram, without ? NULL : &actions, NULL, arguments, environ) != 0)
    exit(9);
  posix_spawn_file_actions_destroy(&actions);
  expect_success(child);
}

static void check_by_message(const char* way, int listener) {
  int pair[2], got[2], sent[2] = {STDIN_FILENO, listener};
  char control[CMSG_SPACE(sizeof(sent))] = "", plain = 'p', byte = 'c';
  struct iovec parts[2] = {{&plain, 1}, {&byte, 1}};
  struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &parts[0], .msg_iovlen = 1}},
                                {.msg_hdr = {.msg_iov = &parts[1], .msg_iovlen = 1}}};
  struct msghdr* with = &messages[1].msg_hdr;
  with->msg_control = control;
  with->msg_controllen = sizeof(control);
  struct cmsghdr* part = CMSG_FIRSTHDR(with);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(sent));
  memcpy(CMSG_DATA(part), sent, sizeof(sent));
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0) exit(10);
  if (strcmp(way, "sendmsg") == 0) {
    if (sendmsg(pair[0], with, 0) != 1) exit(11);
  } else {
    if (sendmmsg(pair[0], messages, 2, 0) != 2 || messages[1].msg_len != 1) exit(12);
    if (recv(pair[1], &plain, 1, 0) != 1 || plain != 'p') exit(13);
  }
  memset(control, 0, sizeof(control));
  if (recvmsg(pair[1], with, 0) != 1) exit(14);
  memcpy(got, CMSG_DATA(CMSG_FIRSTHDR(with)), sizeof(got));
  if (!is_listening_socket(got[1]) || is_listening_socket(got[0])) exit(15);
  close(got[0]);
  close(got[1]);
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
  } else if (strncmp(way, "spawn", 5) == 0) {
    check_by_spawn(way, listener);
  } else if (strncmp(way, "send", 4) == 0) {
    check_by_message(way, listener);
  }
  printf("port %d\n", ntohs(address.sin_port));
  become(way, "--serve");
  if (errno != EINVAL) return 8;
  serve(listener, set);
}
