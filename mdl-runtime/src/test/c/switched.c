/* Two threads call 1,000 functions, which count their calls apart from any probe, and check what each returns. Told by
 * lines: s starts them, q lets both end the round they are in, n lets each make ROUNDS rounds. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#define THREADS 2
#define FUNCTIONS 1000
#define FIRST 100
#define ROUNDS 300

#define QUIET static inline __attribute__((no_instrument_function, always_inline))
#define PROBED __attribute__((noinline, noclone))

#define TENS(m, t) m(t##0) m(t##1) m(t##2) m(t##3) m(t##4) m(t##5) m(t##6) m(t##7) m(t##8) m(t##9)
#define HUNDRED(m, t) \
  TENS(m, t##0) TENS(m, t##1) TENS(m, t##2) TENS(m, t##3) TENS(m, t##4) \
  TENS(m, t##5) TENS(m, t##6) TENS(m, t##7) TENS(m, t##8) TENS(m, t##9)
/* From 100 on. */
#define THOUSAND(m) \
  HUNDRED(m, 1) HUNDRED(m, 2) HUNDRED(m, 3) HUNDRED(m, 4) HUNDRED(m, 5) \
  HUNDRED(m, 6) HUNDRED(m, 7) HUNDRED(m, 8) HUNDRED(m, 9) HUNDRED(m, 10)

QUIET uint64_t value(uint64_t x, uint64_t n) {
  if (x % 3 == 0) {
    for (unsigned i = 0; i < n % 4; i++) x = (x ^ (x >> 29) ^ n) * 0x9E3779B97F4A7C15u;
  } else {
    x += n * 0xBF58476D1CE4E5B9u;
  }
  return x ^ (x >> 31);
}

/* Functions differ in length, so that their probe sites lie at every offset. */
#define FUNCTION(n) \
  PROBED uint64_t switched_##n(uint64_t x) { \
    __asm__ volatile(".skip %c0, 0x90" : : "i"(1 + n * 7 % 10)); \
    return value(x, n); \
  }
THOUSAND(FUNCTION)

#define NAME(n) switched_##n,
static uint64_t (*const functions[FUNCTIONS])(uint64_t) = {THOUSAND(NAME)};

static struct {
  uint64_t calls[FUNCTIONS];
  uint64_t wrong;
  uint64_t x;
} of[THREADS];
static atomic_int goes;

QUIET void round_of(int thread) {
  for (int i = 0; i < FUNCTIONS; i++) {
    uint64_t x = of[thread].x;
    of[thread].x = functions[i](x);
    of[thread].calls[i]++;
    of[thread].wrong += of[thread].x != value(x, FIRST + i);
  }
}

static void *until_told(void *number) {
  int thread = (int)(intptr_t)number;
  do {
    round_of(thread);
  } while (atomic_load(&goes));
  return 0;
}

static void *rounds(void *number) {
  int thread = (int)(intptr_t)number;
  /* Not equally often. */
  for (int i = 0; i < ROUNDS + thread; i++) round_of(thread);
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  char line[8];
  for (int i = 0; i < THREADS; i++) of[i].x = i + 1;
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    if (line[0] != 'q') {
      atomic_store(&goes, 1);
      for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, line[0] == 's' ? until_told : rounds, (void *)i);
    }
    if (line[0] != 's') {
      atomic_store(&goes, 0);
      for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    }
    puts(line[0] == 's' ? "started" : "quiet");
    fflush(stdout);
  }
  printf("%lu wrong\n", (unsigned long)(of[0].wrong + of[1].wrong));
  for (int i = 0; i < FUNCTIONS; i++)
    printf("switched_%d %lu\n", FIRST + i, (unsigned long)(of[0].calls[i] + of[1].calls[i]));
  return 0;
}
