// client PORT FIRST LAST COUNT [COMMAND]: so many connections, begun on the CPUs FIRST to LAST by
// turns. Prints for each, as JSON, where it was begun and what the server said. Without a command
// each is ended, also by the server, before the next begins; else all are kept until it has run.
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "pinning.h"

static int Connect(int port) {
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((unsigned short)port),
                                      .sin_addr = {htonl(INADDR_LOOPBACK)}};
  const struct timeval patience = {20, 0};
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (connect(connection, (const struct sockaddr*)&address, sizeof(address)) != 0) Fail("connect");
  return connection;
}

// What the server says, "" if that is nothing.
static void PrintAnswer(int connection, int cpu) {
  char answer[128] = "";
  size_t length = 0;
  while (length + 1 < sizeof(answer) && strchr(answer, '\n') == NULL) {
    const ssize_t more = recv(connection, answer + length, sizeof(answer) - 1 - length, 0);
    if (more <= 0) break;
    length += (size_t)more;
    answer[length] = '\0';
  }
  answer[strcspn(answer, "\n")] = '\0';
  printf("{\"client\":%d%s%s}\n", cpu, *answer != '\0' ? "," : "", answer);
}

static void End(int connection) {
  char byte;
  shutdown(connection, SHUT_WR);
  if (recv(connection, &byte, 1, 0) != 0) perror("the server has not closed");
  close(connection);
}

int main(int count, char** arguments) {
  if (count < 5) return 2;
  const int port = atoi(arguments[1]), first = atoi(arguments[2]), last = atoi(arguments[3]);
  for (int i = 0; i < atoi(arguments[4]); ++i) {
    const int cpu = first + i % (last - first + 1);
    PinTo(cpu);
    const int connection = Connect(port);
    PrintAnswer(connection, cpu);
    if (count == 5) End(connection);
  }
  fflush(stdout);
  return count == 5 ? 0 : system(arguments[5]);
}
