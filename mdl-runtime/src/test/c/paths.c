/* Burns CPU time in one function until its input ends, by paths that are known: from two callers, at the bottom of a recursion, and in
 * what libc calls back. With an argument a forked process does that, and this one waits for it. */
#include <stdlib.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 200000, DEPTH = 5 };

static volatile unsigned sink;

#define CALLED __attribute__((noinline, noclone))

static int is_over(void) {
  char byte;
  fd_set set;
  struct timeval none = {0};
  FD_ZERO(&set);
  FD_SET(0, &set);
  return select(1, &set, NULL, NULL, &none) == 1 && read(0, &byte, 1) == 0;
}

CALLED void leaf(void) {
  for (unsigned i = 0; i < STEPS; i++) {
    sink += i;
  }
}

CALLED void first(void) {
  leaf();
  sink++;
}

CALLED void second(void) {
  leaf();
  sink++;
}

CALLED void recurse(int depth) {
  if (depth > 1) {
    recurse(depth - 1);
  } else {
    leaf();
  }
  sink++;
}

CALLED int compare(const void *a, const void *b) {
  leaf();
  return *(const int *)a - *(const int *)b;
}

CALLED void sort(void) {
  int values[] = {2, 1};
  qsort(values, 2, sizeof *values, compare);
  sink++;
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1 && fork() != 0) {
    return wait(NULL) < 0;
  }
  while (!is_over()) {
    first();
    second();
    recurse(DEPTH);
    sort();
  }
  return 0;
}
