/* Locals that are aligned more than the stack is. */
#include "counted.h"

#include <stdint.h>
#include <string.h>

PROBED long use(volatile char *block, long size, int value) {
  COUNTED;
  memset((char *)block, value, (size_t)size);
  return block[0] + block[size - 1];
}

PROBED long by_64(long x) {
  COUNTED;
  _Alignas(64) char block[192];
  return use(block, sizeof block, (int)x) + (long)((uintptr_t)block % 64) * 1000;
}

PROBED long by_4096(long depth, long a, long b, long c, long d, long e, long on_stack) {
  COUNTED;
  _Alignas(4096) char block[64];
  char *more = __builtin_alloca((size_t)(16 + depth * 8));
  long sum = use(block, sizeof block, (int)depth) + use(more, 16, 1);
  if (depth > 0) sum += by_4096(depth - 1, a, b, c, d, e, on_stack + 1);
  OPAQUE(sum);
  return sum + (long)((uintptr_t)block % 4096) * 1000 + a + b + c + d + e + on_stack;
}

int main(void) {
  COUNTED;
  for (int i = 0; i < 20; i++) printf("%ld %ld\n", by_64(i), by_4096(i, 1, 2, 3, 4, 5, 6));
  return 0;
}
