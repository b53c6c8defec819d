/* Calls `sum` ROUNDS times, which calls `weigh`, inlined, 3000 times: a third of them take one way and two thirds the other. */
#include <stdlib.h>

static volatile long thirds, others;

__attribute__((noinline)) void third(void) { thirds++; }

__attribute__((noinline)) void other(void) { others++; }

static inline __attribute__((always_inline)) void weigh(int value) {
  if (value % 3 == 0) {
    third();
  } else {
    other();
  }
}

__attribute__((noinline)) void sum(int values) {
  for (int i = 0; i < values; i++) {
    weigh(i);
  }
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; i < rounds; i++) {
    sum(3000);
  }
  return thirds == others;
}
