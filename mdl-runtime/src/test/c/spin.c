/* Functions that take known times, by the time-stamp counter. Prints "name ticks" for each and "hz frequency". */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define QUIET __attribute__((no_instrument_function)) static
static double hz;

QUIET uint64_t nanos(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

QUIET inline __attribute__((always_inline)) void spin(uint64_t ticks) {
  uint64_t start = __rdtsc();
  while (__rdtsc() - start < ticks) _mm_pause();
}

#define SPINNER(name) __attribute__((noinline)) void name(uint64_t ticks) { spin(ticks); }
SPINNER(spin_1us)
SPINNER(spin_10us)
SPINNER(spin_100us)
SPINNER(spin_1ms)
SPINNER(spin_10ms)

QUIET void repeat(const char *name, void (*function)(uint64_t), double seconds, int times) {
  uint64_t ticks = (uint64_t)(seconds * hz);
  printf("%s %lu\n", name, (unsigned long)ticks);
  while (times-- > 0) function(ticks);
}

int main(void) {
  uint64_t n = nanos(), t = __rdtsc();
  while (nanos() - n < 100000000u) {}
  hz = (double)(__rdtsc() - t) / ((double)(nanos() - n) / 1e9);
  printf("hz %.0f\n", hz);
  repeat("spin_1us", spin_1us, 1e-6, 20000);
  repeat("spin_10us", spin_10us, 1e-5, 5000);
  repeat("spin_100us", spin_100us, 1e-4, 1000);
  repeat("spin_1ms", spin_1ms, 1e-3, 200);
  repeat("spin_10ms", spin_10ms, 1e-2, 50);
  return 0;
}
