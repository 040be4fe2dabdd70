// What the programs of the machine have in common.
#pragma once
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static void Fail(const char* what) {
  perror(what);
  exit(1);
}

static void PinTo(int cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  if (sched_setaffinity(0, sizeof(only), &only) != 0) Fail("sched_setaffinity");
}
