/* Three threads call 200 functions in random order, for a fixed amount of work; what they return is
 * mixed into the sums that are printed. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define THREADS 3
#define ROUNDS 110000000

#define QUIET static inline __attribute__((no_instrument_function, always_inline))
#define PROBED __attribute__((noinline, noclone))

/* Functions differ in length, so that their probe sites lie at every offset. */
#define PAD(n) __asm__ volatile(".skip %c0, 0x90" : : "i"(n * 7 % 11))
#define TENS(m, t) m(t##0) m(t##1) m(t##2) m(t##3) m(t##4) m(t##5) m(t##6) m(t##7) m(t##8) m(t##9)
#define FIFTY(m, a, b, c, d, e) TENS(m, a) TENS(m, b) TENS(m, c) TENS(m, d) TENS(m, e)

QUIET uint64_t mix(uint64_t x, uint64_t n) { return (x ^ (x >> 29) ^ n) * 0x9E3779B97F4A7C15u; }

/* The result is alive while the exit is recorded. */
#define VALUE(n) \
  PROBED uint64_t value_##n(uint64_t x) { \
    PAD(n); \
    return mix(x, n); \
  }
/* The exit is recorded by a sibling call. */
#define LAST(n) \
  PROBED void last_##n(uint64_t *x) { \
    PAD(n); \
    *x = mix(*x, n); \
  }
#define DEEP(n) \
  PROBED uint64_t deep_##n(uint64_t x, unsigned depth) { \
    PAD(n); \
    return depth == 0 ? mix(x, n) : mix(deep_##n(x + depth, depth - 1), depth); \
  }
/* Arguments in many registers are alive while the entry is recorded. */
#define WIDE(n) \
  PROBED double wide_##n(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, double g, double h) { \
    PAD(n); \
    return (double)((a - b + c) >> 40) * g + (double)((d ^ e ^ f ^ n) >> 40) * h; \
  }
FIFTY(VALUE, 1, 2, 3, 4, 5)
FIFTY(LAST, 6, 7, 8, 9, 10)
FIFTY(DEEP, 11, 12, 13, 14, 15)
FIFTY(WIDE, 16, 17, 18, 19, 20)

#define CALL_VALUE(n) case n: x = value_##n(x); break;
#define CALL_LAST(n) case n: last_##n(&x); break;
#define CALL_DEEP(n) case n: x = deep_##n(x, n % 4); break;
#define CALL_WIDE(n) case n: x += (uint64_t)wide_##n(x, i, x >> 7, n, x << 9, ~x, 0.5, 3.0); break;

static void *storm(void *sum) {
  uint64_t x = *(uint64_t *)sum;
  for (uint64_t i = 0; i < ROUNDS; i++) {
    switch (10 + ((x >> 32) * 200 >> 32)) {
      FIFTY(CALL_VALUE, 1, 2, 3, 4, 5)
      FIFTY(CALL_LAST, 6, 7, 8, 9, 10)
      FIFTY(CALL_DEEP, 11, 12, 13, 14, 15)
      FIFTY(CALL_WIDE, 16, 17, 18, 19, 20)
    }
    x = mix(x, i);
  }
  *(uint64_t *)sum = x;
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  uint64_t sums[THREADS] = {1, 2, 3};
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, storm, &sums[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
  for (int i = 0; i < THREADS; i++) printf("%016lx\n", (unsigned long)sums[i]);
  return 0;
}
