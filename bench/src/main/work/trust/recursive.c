/* Recursion: two functions that call each other, one that calls itself and waits at its leaves, and a sort. */
#include "truth.h"

enum { ITEMS = 4000 };
enum { WALK, EVEN, ODD, SORT, LEAF, FUNCTIONS };

static uint32_t items[ITEMS];
volatile uint64_t sink;

INLINED uint64_t mixed(uint64_t x) {
  x ^= x << 13;
  x ^= x >> 7;
  return x ^ (x << 17);
}

NOINLINE static void leaf(uint64_t x) {
  TIMED(LEAF);
  for (int i = 0; i < 200; i++) {
    x = mixed(x);
  }
  if (x % 5000 == 0) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  sink = x;
}

/* As Fibonacci's numbers are computed by those who teach recursion. */
NOINLINE static int walk(int depth, uint64_t x) {
  TIMED(WALK);
  if (depth < 2) {
    leaf(mixed(x));
    return 1;
  }
  return walk(depth - 1, mixed(x)) + walk(depth - 2, mixed(x + 1));
}

static uint64_t odd(int depth, uint64_t x);

NOINLINE static uint64_t even(int depth, uint64_t x) {
  TIMED(EVEN);
  for (int i = 0; i < 50; i++) {
    x = mixed(x);
  }
  return depth == 0 ? x : odd(depth - 1, x) + 1;
}

NOINLINE static uint64_t odd(int depth, uint64_t x) {
  TIMED(ODD);
  for (int i = 0; i < 100; i++) {
    x = mixed(x);
  }
  return depth == 0 ? x : even(depth - 1, x) + 1;
}

NOINLINE static void sort(uint32_t *from, uint32_t *to) {
  TIMED(SORT);
  if (to - from < 2) {
    return;
  }
  uint32_t pivot = from[(to - from) / 2], *low = from, *high = to - 1;
  while (low <= high) {
    while (*low < pivot) {
      low++;
    }
    while (*high > pivot) {
      high--;
    }
    if (low <= high) {
      uint32_t kept = *low;
      *low++ = *high;
      *high-- = kept;
    }
  }
  sort(from, high + 1);
  sort(low, to);
}

int main(int count, char **arguments) {
  if (count != 3) {
    return 2;
  }
  double seconds = atof(arguments[1]);
  static const char *const names[FUNCTIONS] = {"walk", "even", "odd", "sort", "leaf"};
  memcpy(truth_names, names, sizeof names);
  truth_begin();
  truth_open();
  uint64_t x = 1;
  while (truth_seconds() < seconds) {
    for (int i = 0; i < ITEMS; i++) {
      x = mixed(x);
      items[i] = (uint32_t)x;
    }
    sort(items, items + ITEMS);
    sink = even(40, x) + (uint64_t)walk(12, x);
  }
  truth_close();
  truth_end(arguments[2]);
}
