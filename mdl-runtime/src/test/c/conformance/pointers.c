/* Functions that are called through pointers, by libc, and by way of an ifunc; computed gotos. */
#include "counted.h"

PROBED long increment(long x) {
  COUNTED;
  return x + 1;
}
PROBED long twofold(long x) {
  COUNTED;
  return x * 2;
}
PROBED long negate(long x) {
  COUNTED;
  return -x;
}

static long (*const table[])(long) = {increment, twofold, negate};

/* Runs while the program is being loaded. */
UNPROBED void *resolve(void) { return (void *)twofold; }
long resolved(long x) __attribute__((ifunc("resolve")));

PROBED int by_remainder(const void *one, const void *other) {
  COUNTED;
  int x = *(const int *)one, y = *(const int *)other;
  return x % 10 != y % 10 ? x % 10 - y % 10 : x - y;
}

PROBED long interpret(const unsigned char *code) {
  COUNTED;
  static const void *const labels[] = {&&add, &&call, &&twist, &&stop};
  long x = 1;
  goto *labels[*code];
add:
  x += 10;
  goto *labels[*++code];
call:
  x = increment(x);
  goto *labels[*++code];
twist:
  x ^= 0x55;
  goto *labels[*++code];
stop:
  return x;
}

PROBED int main(void) {
  COUNTED;
  long x = 1;
  for (int i = 0; i < 300; i++) x = table[i % 3](x) % 1000003 + resolved(i);
  printf("%ld\n", x);
  int numbers[100];
  for (int i = 0; i < 100; i++) numbers[i] = i * 37 % 101;
  qsort(numbers, 100, sizeof *numbers, by_remainder);
  for (int i = 0; i < 100; i++) printf("%d ", numbers[i]);
  printf("%ld\n", interpret((const unsigned char[]){0, 1, 2, 1, 0, 0, 2, 1, 3}));
  return 0;
}
