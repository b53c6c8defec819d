/* Calls of two functions, of which one says that recording others has taken all its time: in a probed body RBX is the
 * call's frame, and the word is at CHILDREN. The number of calls is the argument. */
#include <stdlib.h>

static volatile long sink;

__attribute__((noinline)) static void spent(long n) {
  __asm__ volatile("addq %0, %c1(%%rbx)" : : "r"(1L << 40), "i"(CHILDREN) : "memory");
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
