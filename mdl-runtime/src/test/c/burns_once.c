/* Burns 0.7 s of CPU time. */
#include <time.h>

enum { STEPS = 1000000, MILLIS = 700 };

static volatile unsigned sink;

int main(void) {
  struct timespec used;
  do {
    for (unsigned i = 0; i < STEPS; i++) {
      sink += i;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  } while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < MILLIS);
  return 0;
}
