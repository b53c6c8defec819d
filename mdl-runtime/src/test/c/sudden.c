/* For each line of its input, as many calls in a row as that says, of a function that does nothing. */
#include <stdio.h>

static volatile long calls;

__attribute__((noinline)) void called(void) { calls = calls + 1; }

__attribute__((no_instrument_function)) int main(void) {
  puts("ready");
  fflush(stdout);
  for (long n; scanf("%ld", &n) == 1;) {
    for (long i = 0; i < n; i++) {
      called();
    }
    printf("%ld\n", calls);
    fflush(stdout);
  }
  return 0;
}
