/* Functions whose stack grows while they run. */
#include "counted.h"

#include <string.h>

PROBED long fill(char *block, size_t size, int value) {
  COUNTED;
  memset(block, value, size);
  return block[size / 2];
}

PROBED long grows(long n) {
  COUNTED;
  long sum = 0;
  for (long i = 1; i <= n; i++) {
    char *block = __builtin_alloca((size_t)i * 24);
    sum += fill(block, (size_t)i * 24, (int)i);
  }
  return sum;
}

PROBED long variable(long n) {
  COUNTED;
  char array[n * 16];
  long sum = fill(array, sizeof array, (int)n);
  return n == 1 ? sum : sum + variable(n - 1) + array[0];
}

PROBED int main(void) {
  COUNTED;
  for (int i = 1; i <= 30; i++) printf("%ld %ld\n", grows(i), variable(i));
  return 0;
}
