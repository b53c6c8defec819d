/* Arguments and results in vector registers of WIDTH bytes. */
#include "counted.h"

#define LANES (WIDTH / 8)

typedef double vector __attribute__((vector_size(WIDTH)));

PROBED vector combine(vector a, vector b, vector c, vector d, vector e, vector f, vector g, vector h) {
  COUNTED;
  return a - b + c * d - e + f * g + h;
}
PROBED vector on_stack(vector a, vector b, vector c, vector d, vector e, vector f, vector g, vector h, long n, vector i) {
  COUNTED;
  return combine(h, g, f, e, d, c, b, a) + i * (double)n;
}

UNPROBED vector number(double first) {
  vector result;
  for (int lane = 0; lane < LANES; lane++) result[lane] = first + lane / 16.0;
  return result;
}

int main(void) {
  COUNTED;
  for (int i = 0; i < 100; i++) {
    vector x = number(i), y = number(i * 2), z = number(7 - i);
    vector one = combine(x, y, z, x, y, z, y, x);
    vector two = on_stack(one, x, y, z, y, x, z, one, i, y);
    for (int lane = 0; lane < LANES; lane++) printf("%f %f ", one[lane], two[lane]);
    puts("");
  }
  return 0;
}
