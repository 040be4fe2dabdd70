// connector PORT COUNT [random]: makes COUNT connections from four threads and says how many were
// greeted with a byte. With "random" some do not wait for it and some end with a reset.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { kThreads = 4 };

static struct sockaddr_in server;
static int each;
static int random_ends;
static atomic_int connected, greeted, left;

static int Connect(unsigned* seed) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  const struct timeval patience = {20, 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  // Many source addresses, so that ports do not run out.
  const struct sockaddr_in source = {.sin_family = AF_INET,
                                     .sin_addr = {htonl(0x7f010000 + rand_r(seed) % 60000 + 1)}};
  if (bind(connection, (const struct sockaddr*)&source, sizeof(source)) == 0 &&
      connect(connection, (struct sockaddr*)&server, sizeof(server)) == 0) {
    return connection;
  }
  perror("connect");
  close(connection);
  return -1;
}

static void* Run(void* number) {
  unsigned seed = 100 + (unsigned)(size_t)number;
  int waits = 1;
  for (int i = 0; i < each; ++i) {
    const int connection = Connect(&seed);
    if (connection < 0) continue;
    atomic_fetch_add(&connected, 1);
    // Every second one at least waits, so that the accept queue stays short.
    waits = !random_ends || !waits || rand_r(&seed) % 2;
    char byte;
    if (!waits) {
      atomic_fetch_add(&left, 1);
    } else if (recv(connection, &byte, 1, 0) == 1) {
      atomic_fetch_add(&greeted, 1);
    }
    if (random_ends && rand_r(&seed) % 2) {
      const struct linger reset = {1, 0};
      setsockopt(connection, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    }
    close(connection);
  }
  return NULL;
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  server = (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)atoi(arguments[1])),
                                .sin_addr = {htonl(INADDR_LOOPBACK)}};
  each = atoi(arguments[2]) / kThreads;
  random_ends = count > 3;
  pthread_t threads[kThreads];
  for (size_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, Run, (void*)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  printf("connected %d greeted %d left %d\n", connected, greeted, left);
}
