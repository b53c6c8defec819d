/* Calls of two functions, of which one says that recording others has taken all its time: on the stack above a probed body
 * are the words of its call, and before the one which says when it began, the latest time there, is what that is counted from. The number of calls is
 * the argument. */
#include <stdint.h>
#include <stdlib.h>
#include <x86intrin.h>

enum { WORDS = 64 };

static volatile long sink;

__attribute__((noinline, noclone, patchable_function_entry(0))) static void take_all(void) {
  volatile uint64_t *words = (volatile uint64_t *)__builtin_frame_address(0);
  uint64_t now = __rdtsc();
  int latest = 1;
  for (int i = 1; i < WORDS; i++) {
    latest = now - words[i] < now - words[latest] ? i : latest;
  }
  words[latest - 1] -= 1ULL << 40;
}

__attribute__((noinline)) static void spent(long n) {
  take_all();
  sink = n;
}

__attribute__((noinline)) static void own(long n) {
  for (int i = 0; i < 1000; i++) {
    sink = n;
  }
}

int main(int argc, char **argv) {
  long calls = argc > 1 ? atol(argv[1]) : 0;
  for (long n = 0; n < calls; n++) {
    spent(n);
    own(n);
  }
  return 0;
}
