/* Burns CPU time until its input ends, in a function that has begun before there can be a probe, and in libc. With an argument a
 * forked process does that, and this one waits for it. */
#include <stdlib.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 4000000, RANDOM = 200000 };

static volatile unsigned sink;

static int is_over(void) {
  char byte;
  fd_set set;
  struct timeval none = {0};
  FD_ZERO(&set);
  FD_SET(0, &set);
  return select(1, &set, NULL, NULL, &none) == 1 && read(0, &byte, 1) == 0;
}

__attribute__((noinline)) void spin(void) {
  unsigned state = 1;
  while (!is_over()) {
    for (unsigned i = 0; i < STEPS; i++) {
      sink += i;
    }
    for (int i = 0; i < RANDOM; i++) {
      sink += (unsigned)rand_r(&state);
    }
  }
}

/* Never called. */
__attribute__((noinline)) void idle(void) { sink++; }

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1 && fork() != 0) {
    return wait(NULL) < 0;
  }
  spin();
  if (argc > 9) {
    idle();
  }
  return 0;
}
