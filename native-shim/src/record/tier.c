#include "record/tier.h"

#include <x86intrin.h>

enum { FRACTION_BITS = 16, LN2 = 45426 /* 65536ths */ };

/* SplitMix64's mixer (Steele, Lea, Flood 2014). The seed is the clock, so intervals do not follow the program's periods. */
static uint64_t random_bits(const struct mdl_thread *thread) {
  uint64_t bits = __rdtsc() * 0x9E3779B97F4A7C15ULL + (uintptr_t)thread;
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9ULL;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EBULL;
  return (bits ^ bits >> 31) | 1;
}

/* By repeated squaring: each step yields one binary digit of the logarithm. */
static uint64_t log2_of(uint64_t number) {
  unsigned zeros = (unsigned)__builtin_clzll(number);
  uint64_t log = 63u - zeros;
  uint64_t rest = number << zeros >> 32; /* from 1 to 2, in 2^-31 */
  for (int i = 0; i < FRACTION_BITS; i++) {
    rest = rest * rest >> 31;
    log = log << 1 | rest >> 32;
    rest >>= rest >> 32;
  }
  return log;
}

void tier_draw(struct mdl_thread *thread) {
  uint64_t log = ((uint64_t)64 << FRACTION_BITS) - log2_of(random_bits(thread));
  __atomic_store_n(&thread->chance, log * LN2 >> FRACTION_BITS, __ATOMIC_RELAXED);
}

/* As generated code does it (RecordingAssembler). Rounded up, an exponential interval is a geometric one; its mean is `mean`
 * when that of the former is less by a half, nearly. */
static int32_t interval(const struct mdl_thread *thread, uint32_t mean) {
  uint64_t chance = __atomic_load_n(&thread->chance, __ATOMIC_RELAXED);
  return (int32_t)(chance * (2 * (uint64_t)mean - 1) >> (FRACTION_BITS + 1)) + 1;
}

uint32_t tier_weight(struct mdl_thread *thread, const struct mdl_function *function, uint32_t mean) {
  if (mean <= 1) {
    return mean;
  }
  struct mdl_countdown *countdown = (struct mdl_countdown *)thread->countdowns + function->index;
  if (__atomic_load_n(&countdown->left, __ATOMIC_RELAXED) > 1) {
    __asm__ volatile("decl %0" : "+m"(countdown->left) : : "cc");
    return 0;
  }
  uint32_t weight = __atomic_load_n(&countdown->weight, __ATOMIC_RELAXED);
  tier_draw(thread);
  __atomic_store_n(&countdown->weight, __atomic_load_n(&function->weight, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  __atomic_store_n(&countdown->left, interval(thread, mean), __ATOMIC_RELAXED);
  return weight;
}
