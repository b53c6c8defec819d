/* Eight functions of some 100 ticks, and one that calls them all. */
#include <stdint.h>

enum { STEPS = 24 };

#define LEAF(N)                                             \
  __attribute__((noinline)) uint64_t leaf_##N(uint64_t x) { \
    for (int i = 0; i < STEPS; i++) {                       \
      x = x * 6364136223846793005u + N;                     \
    }                                                       \
    return x;                                               \
  }
LEAF(0) LEAF(1) LEAF(2) LEAF(3) LEAF(4) LEAF(5) LEAF(6) LEAF(7)

__attribute__((noinline)) uint64_t leaves(uint64_t x) {
  return leaf_7(leaf_6(leaf_5(leaf_4(leaf_3(leaf_2(leaf_1(leaf_0(x)))))))) ^ 1;
}
