/* Leaf functions that keep their locals below the stack pointer. */
#include "counted.h"

PROBED unsigned long shuffle(unsigned long x) {
  COUNTED;
  volatile unsigned char bytes[96];
  for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(x >> (i % 8 * 8)) ^ (unsigned char)i;
  unsigned long result = 0;
  for (unsigned i = 0; i < sizeof bytes; i++) result = result * 31 + bytes[(i * 7) % sizeof bytes];
  return result;
}

PROBED unsigned long twice(unsigned long x) {
  COUNTED;
  volatile unsigned long kept[8];
  for (int i = 0; i < 8; i++) kept[i] = x + (unsigned)i;
  return kept[x % 8] * kept[(x + 3) % 8];
}

int main(void) {
  COUNTED;
  unsigned long x = 1;
  for (int i = 0; i < 1000; i++) x = shuffle(x) + twice(x);
  printf("%lx\n", x);
  return 0;
}
