/* Says "ready"; then each of some threads calls work(), every fourth call of which takes ten times as long. It prints how often work()
 * was called, and ends with its input.
 *
 * arguments: threads, calls of each, nanoseconds that a short call takes at least */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NO_PROBES __attribute__((no_instrument_function))
#define THREADS_MAX 64

static long calls;
static long nanos;

NO_PROBES static __attribute__((always_inline)) inline long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

__attribute__((noinline)) void work(long n) {
  long least = n % 4 == 0 ? 10 * nanos : nanos;
  for (long begin = now(); now() - begin < least;) {
  }
}

NO_PROBES static void *body(void *unused) {
  for (long n = 0; n < calls; n++) work(n);
  return unused;
}

NO_PROBES int main(int argc, char **argv) {
  pthread_t threads[THREADS_MAX];
  if (argc < 4) return 2;
  int count = atoi(argv[1]);
  calls = atol(argv[2]);
  nanos = atol(argv[3]);
  if (count > THREADS_MAX) return 2;
  puts("ready");
  fflush(stdout);
  for (int i = 0; i < count; i++) {
    if (pthread_create(&threads[i], NULL, body, NULL) != 0) return 3;
  }
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  printf("%ld\n", count * calls);
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
