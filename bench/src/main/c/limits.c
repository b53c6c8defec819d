/* Lower limits of the cost of probes: two clock readings, and counters in the program itself. */
#include <stdint.h>
#include <x86intrin.h>

#define UNPROBED __attribute__((noinline, no_instrument_function, patchable_function_entry(0)))

static uint64_t counters[64];

UNPROBED uint64_t clocks(uint64_t x) {
  uint64_t start = __rdtsc();
  __asm__ volatile("" : "+r"(x));
  return x + __rdtsc() - start;
}

#define COUNT_1(I) __asm__ volatile("incq %0" : "+m"(counters[I]));
#define COUNT_2(I) COUNT_1(I) COUNT_1(I + 1)
#define COUNT_4(I) COUNT_2(I) COUNT_2(I + 2)
#define COUNT_8(I) COUNT_4(I) COUNT_4(I + 4)
#define COUNT_16(I) COUNT_8(I) COUNT_8(I + 8)
#define COUNT_32(I) COUNT_16(I) COUNT_16(I + 16)
#define COUNT_64(I) COUNT_32(I) COUNT_32(I + 32)

#define COUNTERS(N)                           \
  UNPROBED uint64_t counters_##N(uint64_t x) { \
    COUNT_##N(0);                             \
    return x;                                 \
  }
COUNTERS(1) COUNTERS(2) COUNTERS(4) COUNTERS(8) COUNTERS(16) COUNTERS(32) COUNTERS(64)
