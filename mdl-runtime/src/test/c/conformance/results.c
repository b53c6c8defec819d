/* Results in rax, rax and rdx, xmm0, xmm0 and xmm1, a mixture, on the x87 stack, and in memory. */
#include "counted.h"

#include <complex.h>

struct mixed {
  long integer;
  double real;
};
struct large {
  long words[12];
};

PROBED unsigned char in_al(int i) {
  COUNTED;
  return (unsigned char)(i * 7);
}
PROBED __int128 in_rax_rdx(long i) {
  COUNTED;
  return ((__int128)(i * 11) << 64) + (i ^ 0x5555);
}
PROBED float float_in_xmm0(int i) {
  COUNTED;
  return (float)i / 3;
}
PROBED _Complex double in_xmm0_xmm1(double x) {
  COUNTED;
  return x * 2 + (x - 1) * I;
}
PROBED struct mixed in_rax_xmm0(long i) {
  COUNTED;
  return (struct mixed){i * 13, (double)i / 7};
}
PROBED long double in_st0(long i) {
  COUNTED;
  return (long double)i / 9;
}
PROBED _Complex long double in_st0_st1(long i) {
  COUNTED;
  return (long double)i / 11 + ((long double)i * 17) * I;
}
PROBED struct large in_memory(long i) {
  COUNTED;
  struct large large;
  for (int word = 0; word < 12; word++) large.words[word] = i + word;
  return large;
}

PROBED int main(void) {
  COUNTED;
  for (int i = 0; i < 100; i++) {
    __int128 wide = in_rax_rdx(i);
    _Complex double two = in_xmm0_xmm1(i);
    struct mixed mixed = in_rax_xmm0(i);
    _Complex long double x87 = in_st0_st1(i);
    struct large large = in_memory(i);
    /* A result that is left on the x87 stack would fill it. */
    long double sum = 0;
    for (int j = 0; j < 20; j++) sum += in_st0(i + j);
    printf("%d %lx %lx %f %f %f %ld %f %Lf %Lf %Lf %ld\n", in_al(i), (long)(wide >> 64), (long)wide,
           (double)float_in_xmm0(i), creal(two), cimag(two), mixed.integer, mixed.real, sum, creall(x87), cimagl(x87),
           large.words[11] - large.words[0] * 2);
  }
  return 0;
}
