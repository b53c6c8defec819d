/* More thread-local memory than the agent's threads have stack. Calls a function a hundred times. */
#include <stdio.h>

enum { BYTES = 4 << 20, CALLS = 100 };

static __thread volatile char bytes[BYTES];

__attribute__((noinline)) void touch(int i) { bytes[i * (BYTES / CALLS)] = 1; }

int main(void) {
  for (int i = 0; i < CALLS; i++) {
    touch(i);
  }
  puts("done");
  return 0;
}
