/*
 * Functions of several kinds, each of which measures itself: what a profiler is to find. Prints how often it had to wait
 * for a processor first. Usage: truths SECONDS SEED HERTZ
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <x86intrin.h>

#define WITHIN __attribute__((no_instrument_function, always_inline)) static inline

enum { STEADY, ALTERNATING, HEAVY, PHASES, PARENT, CHILD, RARE, FUNCTIONS };
static const char *const names[] = {"steady", "alternating", "heavy", "phases", "parent", "child", "rare"};
static struct {
  uint64_t calls, total, in_children;
} truths[FUNCTIONS];
static uint64_t random_state;
static uint64_t number;

WITHIN double uniform(void) {
  random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(random_state >> 11) / (double)(1ULL << 53);
}

WITHIN void spin(uint64_t start, double ticks) {
  while (__rdtsc() - start < (uint64_t)ticks) {
  }
}

WITHIN void end(int function, uint64_t start) {
  truths[function].calls++;
  truths[function].total += __rdtsc() - start;
}

#define FUNCTION(name, index, ticks)                                                                                   \
  __attribute__((noinline)) void name(void) {                                                                          \
    uint64_t start = __rdtsc();                                                                                        \
    spin(start, ticks);                                                                                                \
    end(index, start);                                                                                                 \
  }

FUNCTION(steady, STEADY, 4000)
FUNCTION(alternating, ALTERNATING, number % 2 ? 2000 : 10000)
FUNCTION(heavy, HEAVY, 2000 * pow(1 - uniform(), -0.4))
FUNCTION(phases, PHASES, 3000 + 3000 * uniform())
FUNCTION(child, CHILD, 2000 + 8000 * uniform())
FUNCTION(rare, RARE, 1e6 * (0.5 + uniform()))

__attribute__((noinline)) void parent(void) {
  uint64_t start = __rdtsc();
  uint64_t before = truths[CHILD].total;
  for (int i = 0; i < 3; i++) {
    child();
  }
  truths[PARENT].in_children += truths[CHILD].total - before;
  spin(__rdtsc(), 15000);
  end(PARENT, start);
}

int main(int count, char **words) {
  double hertz = atof(words[3]);
  uint64_t start = __rdtsc(), length = (uint64_t)(atof(words[1]) * hertz), phase = (uint64_t)(hertz / 7);
  random_state = strtoull(words[2], NULL, 10);
  for (uint64_t now = start; now - start < length; now = __rdtsc(), number++) {
    steady();
    alternating();
    heavy();
    parent();
    if ((now - start) / phase % 4 == 0) {
      phases();
    }
    if (number % 3000 == 0) {
      rare();
    }
  }
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  printf("%ld\n", usage.ru_nivcsw);
  for (int i = 0; i < FUNCTIONS; i++) {
    printf("%s %lu %lu %lu\n", names[i], truths[i].calls, truths[i].total, truths[i].total - truths[i].in_children);
  }
  return 0;
}
