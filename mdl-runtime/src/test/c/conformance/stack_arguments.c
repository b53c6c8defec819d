/* Arguments that do not fit in registers, and structures by value. */
#include "counted.h"

struct block {
  long words[15];
};

PROBED long integers(long a, long b, long c, long d, long e, long f, long g, int h, short i, char j, long k, long l) {
  COUNTED;
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l;
}

PROBED double doubles(double a, double b, double c, double d, double e, double f, double g, double h, double i, float j,
                      double k, long double l) {
  COUNTED;
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * (double)l;
}

PROBED long by_value(struct block one, long between, struct block two) {
  COUNTED;
  long sum = between;
  for (int i = 0; i < 15; i++) sum += one.words[i] * (i + 1) - two.words[i];
  one.words[3] = sum; /* the callee's own copy */
  return sum + one.words[3];
}

PROBED int main(void) {
  COUNTED;
  struct block one, two;
  for (int i = 0; i < 15; i++) {
    one.words[i] = i * i;
    two.words[i] = 100 - i;
  }
  for (int i = 0; i < 100; i++) {
    long x = integers(i, 2, 3, 4, 5, 6, 7, 8, -9, 10, 11, 12L << 33);
    double y = doubles(i, .2, .3, .4, .5, .6, .7, .8, .9, 1.5f, 1.1, 1.2L);
    printf("%ld %.6f %ld\n", x, y, by_value(one, i, two));
  }
  return 0;
}
