/* A worker that answers each connection with its pid: worker LISTENER [CONTROL_PATH] */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ringdeal/ringdeal.h>

int main(int argc, char** argv) {
  ringdeal_options options;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  options.listener = argc > 1 ? argv[1] : "web";
  options.control_path = argc > 2 ? argv[2] : NULL;
  ringdeal_worker* deal = ringdeal_join(&options);
  if (deal == NULL) {
    fprintf(stderr, "cannot join %s: %s\n", options.listener, ringdeal_last_error());
    return 1;
  }
  struct pollfd watched = {ringdeal_fd(deal), POLLIN, 0};
  for (;;) {
    ringdeal_pass_end(deal);
    const int ready = poll(&watched, 1, -1);
    ringdeal_pass_begin(deal);
    if (ready < 0) break;
    const int connection = ringdeal_accept(deal, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) continue;
    dprintf(connection, "%d\n", (int)getpid());
    close(connection);
    ringdeal_closed(deal, 1);
  }
  ringdeal_leave(deal);
  return 0;
}
