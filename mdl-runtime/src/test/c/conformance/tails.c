/* Tail calls: direct, through a pointer, with arguments on the stack, and 100,000 in a row, which must not make the stack grow. */
#include "counted.h"

#include <stdint.h>

#ifdef __OPTIMIZE__
#define STEPS 100000
#else
#define STEPS 10000
#endif

static uintptr_t highest;

PROBED long last(long x) {
  COUNTED;
  return x * 3 + 1;
}
PROBED long middle(long x) {
  COUNTED;
  return last(x ^ 5);
}
PROBED long first(long x) {
  COUNTED;
  return middle(x + 7);
}

PROBED long through(long (*function)(long), long x) {
  COUNTED;
  return function(x - 1);
}

PROBED long take_nine(long a, long b, long c, long d, long e, long f, long g, long h, long i) {
  COUNTED;
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}
PROBED long swap_nine(long a, long b, long c, long d, long e, long f, long g, long h, long i) {
  COUNTED;
  return take_nine(i, h, g, f, e, d, c, b, a);
}

/* Whether the stack has grown since `highest` was taken. */
long odd(long steps);
PROBED long even(long steps) {
  COUNTED;
  return steps == 0 ? highest - (uintptr_t)__builtin_frame_address(0) > 4096 : odd(steps - 1);
}
PROBED long odd(long steps) {
  COUNTED;
  return steps == 0 ? -1 : even(steps - 1);
}

PROBED int main(void) {
  COUNTED;
  long sum = 0;
  for (long i = 0; i < 1000; i++) {
    sum += first(i) + through(middle, i) + swap_nine(i, 2, 3, 4, 5, 6, 7, 8, 9);
  }
  printf("sum %ld\n", sum);
  highest = (uintptr_t)__builtin_frame_address(0);
  printf("grown %ld\n", even(STEPS));
  return 0;
}
