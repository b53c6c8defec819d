/* Forks a worker after each of the given numbers of milliseconds since the start; one that is followed by `c` confines itself
 * first. They call work() now and then until the input of
 * the first process ends, and last() 100 times then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NO_PROBES __attribute__((no_instrument_function))

static volatile long sink;
static volatile int *over; /* in all processes */
__attribute__((noinline)) void work(long x) { sink += x; }
__attribute__((noinline)) void last(long x) { sink -= x; }

NO_PROBES static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

NO_PROBES static int child(void) {
  while (!*over) {
    work(1);
    usleep(1000);
  }
  for (int i = 0; i < 100; i++) last(i);
  return 3;
}

NO_PROBES int main(int argc, char **argv) {
  long start = now();
  over = mmap(NULL, sizeof *over, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int i = 1; i < argc; i++) {
    while (now() - start < atol(argv[i])) usleep(500);
    if (fork() == 0) {
      if (strchr(argv[i], 'c')) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      return child();
    }
  }
  while (getchar() != EOF) continue;
  *over = 1;
  while (wait(NULL) > 0) continue;
  return 0;
}
