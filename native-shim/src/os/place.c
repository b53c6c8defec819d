#include "os/place.h"

#include <stdint.h>
#include <sys/auxv.h>

enum { RANDOM_BITS = 46 };

void *place_apart(unsigned number) {
  const uint64_t *random = (const uint64_t *)getauxval(AT_RANDOM);
  uint64_t offset = random ? ((random[1] + number) * 0x9E3779B97F4A7C15ULL) >> (64 - RANDOM_BITS) : 0;
  return (void *)((0x200000000000ULL + offset) & ~4095ULL);
}
