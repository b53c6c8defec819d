/* What the program itself sees of its stack. A debugger stops it in getpgrp, which nothing else calls. */
#define _GNU_SOURCE
#include "counted.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>

PROBED void show(void) {
  COUNTED;
  void *frames[64];
  int count = backtrace(frames, 64);
  for (int i = 0; i < count; i++) {
    Dl_info info;
    /* A return address may lie behind the last instruction of a function. */
    if (dladdr((char *)frames[i] - 1, &info) && info.dli_sname) puts(info.dli_sname);
  }
  puts("");
}

PROBED long innermost(long x) {
  COUNTED;
  show();
  return x + getpgrp() * 0;
}
PROBED long outer(long depth, long x) {
  COUNTED;
  long below = depth == 0 ? innermost(x) : outer(depth - 1, x);
  OPAQUE(below);
  return below + 1;
}

static volatile long result;

PROBED void on_signal(int signal) {
  COUNTED;
  result = outer(2, signal); /* no tail call */
}

int main(void) {
  COUNTED;
  signal(SIGUSR1, on_signal);
  outer(5, 1);
  raise(SIGUSR1);
  return 0;
}
