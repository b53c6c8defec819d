/* Recursion: two functions that call each other, one that calls itself and waits at its leaves, and a sort. */
#include "truth.h"

enum { ITEMS = 4000 };
enum { WALK, EVEN, ODD, SORT, LEAF, FUNCTIONS };

static uint32_t items[ITEMS];
volatile uint64_t sink;

NOINLINE static void leaf(uint64_t x) {
  TIMED(LEAF);
  x = spun(x, 200);
  if (x % 5000 == 0) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  sink = x;
}

/* As Fibonacci's numbers are computed by those who teach recursion. */
NOINLINE static int walk(int depth, uint64_t x) {
  TIMED(WALK);
  if (depth < 2) {
    leaf(spun(x, 1));
    return 1;
  }
  return walk(depth - 1, spun(x, 1)) + walk(depth - 2, spun(x + 1, 1));
}

static uint64_t odd(int depth, uint64_t x);

NOINLINE static uint64_t even(int depth, uint64_t x) {
  TIMED(EVEN);
  x = spun(x, 50);
  return depth == 0 ? x : odd(depth - 1, x) + 1;
}

NOINLINE static uint64_t odd(int depth, uint64_t x) {
  TIMED(ODD);
  x = spun(x, 100);
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
  static const char *const names[FUNCTIONS] = {"walk", "even", "odd", "sort", "leaf"};
  double seconds = truth_begin(count, arguments, names, FUNCTIONS);
  truth_open();
  uint64_t x = 1;
  while (truth_seconds() < seconds) {
    for (int i = 0; i < ITEMS; i++) {
      x = spun(x, 1);
      items[i] = (uint32_t)x;
    }
    sort(items, items + ITEMS);
    sink = even(40, x) + (uint64_t)walk(12, x);
  }
  truth_close();
  truth_end(arguments[2]);
}
