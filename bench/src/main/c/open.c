/*
 * Opens libraries, one after the other: each line of the output is the ticks that one took. The first line says that the
 * program is ready; it begins when it reads a line.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <x86intrin.h>

int main(int count, char **arguments) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  puts("ready");
  getchar();
  for (int i = 1; i < count; i++) {
    uint64_t start = __rdtsc();
    if (dlopen(arguments[i], RTLD_NOW) == NULL) {
      return 1;
    }
    printf("%lu\n", (unsigned long)(__rdtsc() - start));
  }
  return 0;
}
