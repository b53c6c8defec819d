/* Callers that keep values in registers which are the callee's to use, because they know that this callee does not:
 * for the same reason they may not align the stack. gcc makes such callers when probes are asked for by attribute. */
#include "counted.h"

#include <pthread.h>

static PROBED long scale(long x) {
  COUNTED;
  return x * 3;
}
static PROBED double half(double x) {
  COUNTED;
  return x * .5;
}

static inline __attribute__((always_inline)) UNPROBED long keep(const long *v) {
  long a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7], i = v[8], j = v[9], k = v[10];
  long x = scale(v[11]);
  return ((((((((((x ^ a) + b) ^ c) + d) ^ e) + f) ^ g) + h) ^ i) + j) ^ k;
}

PROBED long keep_integers(const long *v) {
  COUNTED;
  return keep(v);
}

PROBED double keep_doubles(const double *v) {
  COUNTED;
  double a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7], i = v[8], j = v[9], k = v[10];
  double x = half(v[11]);
  return ((((((((((x * a) + b) * c) + d) * e) + f) * g) + h) * i) + j) * k;
}

/* The first probe of a thread does more than others. */
UNPROBED void *meet_first_probe(void *integers) { return (void *)keep(integers); }

PROBED int main(void) {
  COUNTED;
  long integers[12];
  double doubles[12];
  for (int i = 0; i < 100; i++) {
    for (int n = 0; n < 12; n++) {
      integers[n] = (i + 1) * (n * 0x12345671L + 1);
      doubles[n] = 1 + (double)(i * n) / 128;
    }
    printf("%lx %a\n", keep_integers(integers), keep_doubles(doubles));
  }
  for (int i = 0; i < 10; i++) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, meet_first_probe, integers);
    pthread_join(thread, &result);
    printf("%lx\n", (long)result);
  }
  return 0;
}
