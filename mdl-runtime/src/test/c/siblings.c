/*
 * Functions each of which leaves for the next by a sibling call, and as many that call the next: prints how many calls
 * of each it has made, and the ticks of a call in the fastest round.
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <x86intrin.h>

#define PROBED __attribute__((noinline, noclone))
#define UNPROBED __attribute__((noinline, noclone, no_instrument_function, patchable_function_entry(0)))

enum { FUNCTIONS = 12, ROUNDS = 200, CALLS = 100, JUMPS = 50 };

static jmp_buf target;
static volatile int jumps;

PROBED uint64_t left_12(uint64_t x) {
  if (jumps) {
    longjmp(target, 1);
  }
  return 3 * x + 12;
}
PROBED uint64_t called_12(uint64_t x) { return 3 * x + 12; }

#define PAIR(n, next) \
  PROBED uint64_t left_##n(uint64_t x) { return left_##next(3 * x + n); } \
  PROBED uint64_t called_##n(uint64_t x) { \
    x = called_##next(3 * x + n); \
    __asm__ volatile("" : "+r"(x)); \
    return x; \
  }
PAIR(11, 12)
PAIR(10, 11)
PAIR(9, 10)
PAIR(8, 9)
PAIR(7, 8)
PAIR(6, 7)
PAIR(5, 6)
PAIR(4, 5)
PAIR(3, 4)
PAIR(2, 3)
PAIR(1, 2)

UNPROBED static uint64_t run(uint64_t (*first)(uint64_t), const char *name) {
  uint64_t x = 1, best = UINT64_MAX;
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t start = __rdtsc();
    for (int i = 0; i < CALLS; i++) {
      x = first(x);
    }
    uint64_t ticks = __rdtsc() - start;
    best = ticks < best ? ticks : best;
  }
  printf("%s %lu\n", name, (unsigned long)(best / (CALLS * FUNCTIONS)));
  return x;
}

UNPROBED int main(void) {
  uint64_t left = run(left_1, "ticks_left");
  uint64_t called = run(called_1, "ticks_called");
  volatile int i;
  jumps = 1;
  for (i = 0; i < JUMPS; i++) {
    if (setjmp(target) == 0) {
      left_1(i);
    }
  }
  for (i = 1; i <= FUNCTIONS; i++) {
    printf("left_%d %d\ncalled_%d %d\n", i, ROUNDS * CALLS + JUMPS, i, ROUNDS * CALLS);
  }
  return left != called;
}
