// withhold_faults CHANNEL: receives a message into memory whose page fault is never resolved, so
// that the receive stays in the kernel with the socket's lock held, and says so.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int channel;
static char* withheld;

static void* receive(void* unused) {
  struct iovec part = {withheld, 144};
  char control[64];
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
  recvmsg(channel, &message, 0);
  return unused;
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  channel = atoi(arguments[1]);
  int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
  struct uffdio_api api = {.api = UFFD_API};
  if (faults < 0 || ioctl(faults, UFFDIO_API, &api) != 0) {
    puts("not permitted");
    return 0;
  }
  withheld = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct uffdio_register range = {.range = {(unsigned long)withheld, 4096},
                                  .mode = UFFDIO_REGISTER_MODE_MISSING};
  if (ioctl(faults, UFFDIO_REGISTER, &range) != 0) return 1;
  pthread_t thread;
  pthread_create(&thread, NULL, receive, NULL);
  struct pollfd fault = {faults, POLLIN, 0};
  if (poll(&fault, 1, 10000) != 1 || fault.revents != POLLIN) return 1;
  puts("withheld");
  fflush(stdout);
  pause();
}
