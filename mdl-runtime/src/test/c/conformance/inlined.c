/* A function that the compiler puts into its caller: probes that are made after that do not know of it. */
#include "counted.h"

static inline __attribute__((always_inline)) long small(long x) {
  COUNTED;
  return x * 5 + 1;
}

PROBED long large(long x) {
  COUNTED;
  for (int i = 0; i < 10; i++) x = small(x);
  return x;
}

int main(void) {
  COUNTED;
  printf("%ld\n", large(1));
  return 0;
}
