/* A function that does nothing. */
#include <stdint.h>

__attribute__((noinline)) uint64_t empty(uint64_t x) {
  __asm__ volatile("");
  return x;
}
